"""Finds the line of every key in a TOML text, which `tomllib` does not tell.

The text has been accepted by `tomllib` before it comes here, so this scanner only has to know where keys and values
begin and end, not whether they are right. A path is a tuple of key names and array positions.
"""

import tomllib

from spark_udf.errors import TenantsFileError

KeyPath = tuple[str | int, ...]

_SPACE = " \t"
_SPACE_AND_LINES = " \t\r\n"
_BARE_END = ",]}\r\n#"


def find_key_lines(text: str) -> dict[KeyPath, int]:
    """Map the path of each table, key and array element to the line, from 1, where it is first written.

    >>> find_key_lines('[tenants.acme]\\nlimits = { init_fuel = 5 }')["tenants", "acme", "limits", "init_fuel"]
    2
    """
    return _Scanner(text).scan()


class _Scanner:
    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._lines: dict[KeyPath, int] = {}
        self._array_tables: dict[KeyPath, int] = {}

    def scan(self) -> dict[KeyPath, int]:
        table: KeyPath = ()
        self._skip_filler()
        while self._at < len(self._text):
            if self._looking_at("[["):
                table = self._header(2, is_array=True)
            elif self._looking_at("["):
                table = self._header(1, is_array=False)
            else:
                self._key_and_value(table)
            self._skip_filler()
        return self._lines

    def _looking_at(self, token: str) -> bool:
        return self._text.startswith(token, self._at)

    def _peek(self) -> str:
        return self._text[self._at : self._at + 1]

    def _note(self, path: KeyPath) -> None:
        self._lines.setdefault(path, self._text.count("\n", 0, self._at) + 1)

    def _skip(self, characters: str) -> None:
        while self._at < len(self._text) and self._text[self._at] in characters:
            self._at += 1

    def _skip_filler(self) -> None:
        self._skip(_SPACE_AND_LINES)
        while self._peek() == "#":
            end = self._text.find("\n", self._at)
            self._at = len(self._text) if end < 0 else end
            self._skip(_SPACE_AND_LINES)

    def _header(self, brackets: int, *, is_array: bool) -> KeyPath:
        self._at += brackets
        names = self._key()
        path: KeyPath = ()
        for position, name in enumerate(names):
            path = (*path, name)
            self._note(path)
            is_last = position == len(names) - 1
            if is_array and is_last:
                self._array_tables[path] = self._array_tables.get(path, -1) + 1
            if path in self._array_tables:
                path = (*path, self._array_tables[path])
                self._note(path)
        self._at += brackets
        return path

    def _key(self) -> list[str]:
        names = []
        while True:
            self._skip(_SPACE)
            if self._peek() in ('"', "'"):
                names.append(self._quoted_key())
            else:
                start = self._at
                while self._at < len(self._text) and self._text[self._at] not in " \t.=]\r\n":
                    self._at += 1
                names.append(self._text[start : self._at])
            self._skip(_SPACE)
            if self._peek() != ".":
                return names
            self._at += 1

    def _quoted_key(self) -> str:
        start = self._at
        self._string()
        raw = self._text[start + 1 : self._at - 1]
        if self._text[start] == "'":
            return raw
        # Basic strings may hold escapes; tomllib knows them all.
        return str(tomllib.loads(f'key = "{raw}"')["key"])

    def _key_and_value(self, base: KeyPath) -> None:
        start = self._at
        path = base
        for name in self._key():
            path = (*path, name)
            here, self._at = self._at, start
            self._note(path)
            self._at = here
        self._skip(_SPACE)
        if self._peek() != "=":
            raise TenantsFileError(f"cannot follow the text at offset {self._at}; expected '=' after a key")
        self._at += 1
        self._skip(_SPACE)
        self._value(path)

    def _value(self, path: KeyPath) -> None:
        head = self._peek()
        if head in ('"', "'"):
            self._string()
        elif head == "[":
            self._array(path)
        elif head == "{":
            self._inline_table(path)
        else:
            while self._at < len(self._text) and self._text[self._at] not in _BARE_END:
                self._at += 1

    def _string(self) -> None:
        quote = self._text[self._at]
        closing = quote * 3 if self._looking_at(quote * 3) else quote
        self._at += len(closing)
        while not self._looking_at(closing):
            self._at += 2 if quote == '"' and self._peek() == "\\" else 1
        self._at += len(closing)
        # Up to two quotes may stand directly before the closing three, and belong to the text.
        if len(closing) == 3:
            self._skip(quote)

    def _array(self, path: KeyPath) -> None:
        self._at += 1
        position = 0
        self._skip_filler()
        while self._peek() != "]":
            self._note((*path, position))
            self._value((*path, position))
            position += 1
            self._skip_separator()
        self._at += 1

    def _inline_table(self, path: KeyPath) -> None:
        self._at += 1
        self._skip_filler()
        while self._peek() != "}":
            self._key_and_value(path)
            self._skip_separator()
        self._at += 1

    def _skip_separator(self) -> None:
        self._skip_filler()
        if self._peek() == ",":
            self._at += 1
        self._skip_filler()
