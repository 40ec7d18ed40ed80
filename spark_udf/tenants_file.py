"""Reads tenants.toml: which tenant runs which modules, with which configuration, limits and policy.

Knows neither Spark nor the sandbox; what it returns is checked against modules when the transforms are applied. The
format is described in docs/spark.md.
"""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn, cast

from abi import formats
from spark_udf.errors import TenantsFileError
from spark_udf.secret import Secret
from spark_udf.step import ON_ERROR, UNKNOWN, Step
from spark_udf.toml_lines import KeyPath, find_key_lines
from wasm_host import ISOLATIONS, Isolation, Limits, TrustPolicy
from wasm_host.errors import ConfigError
from wasm_host.trust import read_public_key

_TOP_KEYS = (
    "defaults",
    "format",
    "modules",
    "output_format",
    "store",
    "tenant",
    "tenants",
    "trust",
    "unknown",
    "version",
)
_TRUST_KEYS = ("pinned", "public_keys")
_MODULE_KEYS = ("path", "sha256")
_STEP_KEYS = ("config", "isolation", "limits", "module", "native", "sha256", "wasi")
_TENANT_KEYS = ("chain", *_STEP_KEYS, "on_error")
_DEFAULT_KEYS = ("config", "isolation", "limits", "module", "native", "on_error", "wasi")
_DIGEST = re.compile(r"(?:sha256:)?([0-9a-fA-F]{64})")


@dataclass(frozen=True, slots=True, kw_only=True)
class TenantEntry:
    """One tenant of the file."""

    steps: tuple[Step, ...]
    on_error: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TenantsFile:
    """The whole file, with defaults filled in."""

    tenants: Mapping[str, TenantEntry]
    unknown: str
    tenant: str | None
    format: str = "protobuf"
    output_format: str | None = None


def read_tenants_file(path: str | Path) -> TenantsFile:
    """Read and check a tenants file.

    Raises:
        TenantsFileError: the file cannot be read or says something impossible; the message names file and line.
    """
    path = Path(path)
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise TenantsFileError(f"{path}: cannot be read ({error})", hint="check the path", file=str(path)) from error
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        found = re.search(r"line (\d+)", str(error))
        line = int(found.group(1)) if found else text.count("\n") + 1
        raise TenantsFileError(
            f"{path}:{line}: not TOML: {error}", hint="correct the syntax there", file=str(path), line=line
        ) from error
    return _Reader(path, data, find_key_lines(text)).read()


class _Reader:
    def __init__(self, path: Path, data: dict[str, Any], lines: dict[KeyPath, int]) -> None:
        self._path = path
        self._folder = path.parent
        self._data = data
        self._lines = lines
        self._trust: TrustPolicy | None = None

    def read(self) -> TenantsFile:
        self._known_keys((), self._data, _TOP_KEYS)
        if self._data.get("version", 1) != 1:
            self._fail(("version",), f"version is {self._data['version']!r}; this package reads version 1")
        defaults = self._table(("defaults",), self._data.get("defaults", {}), _DEFAULT_KEYS)
        self._check_modules()
        self._trust = self._read_trust()
        unknown = self._choice(("unknown",), self._data.get("unknown", "fail"), UNKNOWN)
        tenants = self._data.get("tenants")
        if not isinstance(tenants, dict) or not tenants:
            self._fail(("tenants",), "no tenants", hint="add a table such as [tenants.acme] with a module")
        entries = {name: self._tenant(name, entry, defaults) for name, entry in tenants.items()}
        names = tuple(formats.FORMATS)
        written = self._data.get("output_format")
        return TenantsFile(
            tenants=entries,
            unknown=unknown,
            tenant=self._text(("tenant",), self._data.get("tenant")),
            format=self._choice(("format",), self._data.get("format", "protobuf"), names),
            output_format=None if written is None else self._choice(("output_format",), written, names),
        )

    def _tenant(self, name: str, entry: Any, defaults: dict[str, Any]) -> TenantEntry:
        path: KeyPath = ("tenants", name)
        entry = self._table(path, entry, _TENANT_KEYS)
        on_error_path = (*path, "on_error") if "on_error" in entry else ("defaults", "on_error")
        on_error = self._choice(on_error_path, entry.get("on_error", defaults.get("on_error", "fail")), ON_ERROR)
        if "chain" not in entry:
            return TenantEntry(steps=(self._step(path, entry, defaults, name),), on_error=on_error)
        for key in ("module", "config", "sha256", "native"):
            if key in entry:
                self._fail((*path, key), f"{_dotted((*path, key))} beside a chain", hint="set it in the chain's steps")
        chain = entry["chain"]
        if not isinstance(chain, list) or not chain:
            self._fail(
                (*path, "chain"), f"{_dotted(path)}.chain is {_kind(chain)}; allowed is a list of at least one step"
            )
        # A step of a chain gets the tenant's and the defaults' limits, but no configuration that was meant for another.
        shared: dict[str, Any] = {key: defaults[key] for key in ("limits", "isolation", "wasi") if key in defaults}
        shared.update({key: entry[key] for key in ("isolation", "wasi") if key in entry})
        shared["limits"] = {
            **defaults.get("limits", {}),
            **self._plain_table((*path, "limits"), entry.get("limits", {})),
        }
        steps = []
        for position, step in enumerate(chain):
            step_path = (*path, "chain", position)
            step = {"module": step} if isinstance(step, str) else step
            steps.append(self._step(step_path, self._table(step_path, step, _STEP_KEYS), shared, name))
        return TenantEntry(steps=tuple(steps), on_error=on_error)

    def _step(self, path: KeyPath, entry: dict[str, Any], defaults: dict[str, Any], tenant: str) -> Step:
        merged = {**defaults, **entry}
        if "module" not in merged:
            self._fail(path, f"{_dotted(path)} has no module", hint='add module = "path.wasm" or "sha256:..."')
        module_path = (*path, "module") if "module" in entry else ("defaults", "module")
        file, digest = self._module(module_path, merged["module"])
        if "sha256" in entry:
            digest = self._digest((*path, "sha256"), entry["sha256"])
        return Step(
            module=file,
            config=self._config(path, entry, defaults),
            limits=self._limits(path, entry, defaults),
            isolation=self._isolation(path, entry, merged),
            wasi=self._flag((*path, "wasi"), merged.get("wasi", False)),
            native=self._text((*path, "native"), merged.get("native")),
            sha256=digest,
            trust=self._trust,
            origin=f"{self._path}:{self._line(module_path)} (tenant {tenant!r})",
        )

    def _isolation(self, path: KeyPath, entry: dict[str, Any], merged: dict[str, Any]) -> Isolation:
        at = (*path, "isolation") if "isolation" in entry else ("defaults", "isolation")
        return cast(Isolation, self._choice(at, merged.get("isolation", "worker"), ISOLATIONS))

    def _module(self, path: KeyPath, value: Any) -> tuple[Path, str | None]:
        text = self._text(path, value)
        assert text is not None
        named = self._data.get("modules", {}).get(text)
        if named is not None:
            return self._folder / named["path"], named.get("sha256")
        digest = _DIGEST.fullmatch(text)
        if digest is None:
            return self._folder / text, None
        wanted = digest.group(1).lower()
        for entry in self._data.get("modules", {}).values():
            if str(entry.get("sha256", "")).lower() == wanted:
                return self._folder / entry["path"], wanted
        store = self._text(("store",), self._data.get("store"))
        if store is None:
            self._fail(
                path,
                f"{_dotted(path)} is a digest, but no entry of [modules] has it and there is no store",
                hint='add store = "folder", which holds files named <sha256>.wasm',
            )
        return self._folder / store / f"{wanted}.wasm", wanted

    def _check_modules(self) -> None:
        modules = self._plain_table(("modules",), self._data.get("modules", {}))
        for name, entry in modules.items():
            path: KeyPath = ("modules", name)
            entry = self._table(path, entry, _MODULE_KEYS)
            if self._text((*path, "path"), entry.get("path")) is None:
                self._fail(path, f"{_dotted(path)} has no path")
            if "sha256" in entry:
                self._digest((*path, "sha256"), entry["sha256"])

    def _read_trust(self) -> TrustPolicy | None:
        if "trust" not in self._data:
            return None
        table = self._table(("trust",), self._data["trust"], _TRUST_KEYS)
        for key in _TRUST_KEYS:
            if not isinstance(table.get(key, []), list):
                self._fail(("trust", key), f"trust.{key} is {_kind(table[key])}; allowed is a list")
        pinned = [
            self._digest(("trust", "pinned", position), value) for position, value in enumerate(table.get("pinned", []))
        ]
        keys = [self._public_key(position, value) for position, value in enumerate(table.get("public_keys", []))]
        if not pinned and not keys:
            self._fail(("trust",), "trust names neither pinned nor public_keys, so no module would be taken")
        return TrustPolicy(pinned=frozenset(pinned), public_keys=tuple(keys))

    def _public_key(self, position: int, value: Any) -> bytes:
        path: KeyPath = ("trust", "public_keys", position)
        file = self._text(path, value)
        try:
            return read_public_key((self._folder / str(file)).read_bytes())
        except OSError as error:
            self._fail(path, f"the public key {value!r} cannot be read ({error.strerror})")
        except ConfigError as error:
            self._fail(path, f"the public key {value!r}: {error.message}", hint=error.hint)

    def _limits(self, path: KeyPath, entry: dict[str, Any], defaults: dict[str, Any]) -> Limits:
        own = self._plain_table((*path, "limits"), entry.get("limits", {}))
        inherited = self._plain_table(("defaults", "limits"), defaults.get("limits", {}))
        try:
            return Limits.from_mapping({**inherited, **own})
        except ConfigError as error:
            name = str(error.details.get("field", ""))
            at = (*path, "limits", name) if name in own else ("defaults", "limits", name)
            self._fail(at, f"{_dotted(at)}: {error.message}", hint=error.hint)

    def _config(self, path: KeyPath, entry: dict[str, Any], defaults: dict[str, Any]) -> dict[str, Any]:
        own = self._plain_table((*path, "config"), entry.get("config", {}))
        inherited = self._plain_table(("defaults", "config"), defaults.get("config", {}))
        config = {name: self._config_value(("defaults", "config", name), value) for name, value in inherited.items()}
        config.update({name: self._config_value((*path, "config", name), value) for name, value in own.items()})
        return config

    def _config_value(self, path: KeyPath, value: Any) -> Any:
        if isinstance(value, dict):
            if set(value) == {"env"} and isinstance(value["env"], str):
                return Secret.env(value["env"])
            if set(value) == {"file"} and isinstance(value["file"], str):
                return Secret.file(self._folder / value["file"])
            return {name: self._config_value((*path, name), item) for name, item in value.items()}
        if isinstance(value, list):
            return [self._config_value((*path, position), item) for position, item in enumerate(value)]
        if not isinstance(value, (str, bool, int, float)):
            self._fail(
                path,
                f"{_dotted(path)} is {_kind(value)}; a configuration holds text, numbers, booleans, lists and tables",
                hint="write dates and times as text",
            )
        return value

    def _table(self, path: KeyPath, value: Any, allowed: tuple[str, ...]) -> dict[str, Any]:
        table = self._plain_table(path, value)
        self._known_keys(path, table, allowed)
        return table

    def _plain_table(self, path: KeyPath, value: Any) -> dict[str, Any]:
        if not isinstance(value, dict):
            self._fail(path, f"{_dotted(path)} is {_kind(value)}; allowed is a table")
        return value

    def _known_keys(self, path: KeyPath, table: dict[str, Any], allowed: tuple[str, ...]) -> None:
        for key in table:
            if key not in allowed:
                self._fail(
                    (*path, key),
                    f"{_dotted((*path, key))} is not known; allowed here are {', '.join(sorted(allowed))}",
                    hint="check the spelling",
                )

    def _choice(self, path: KeyPath, value: Any, allowed: tuple[str, ...]) -> str:
        if not isinstance(value, str) or value not in allowed:
            words = ", ".join(repr(word) for word in allowed)
            self._fail(path, f"{_dotted(path)} is {value!r}; allowed are {words}")
        return value

    def _text(self, path: KeyPath, value: Any) -> str | None:
        if value is not None and (not isinstance(value, str) or not value):
            self._fail(path, f"{_dotted(path)} is {_kind(value)}; allowed is text that is not empty")
        return value

    def _flag(self, path: KeyPath, value: Any) -> bool:
        if not isinstance(value, bool):
            self._fail(path, f"{_dotted(path)} is {_kind(value)}; allowed is true or false")
        return value

    def _digest(self, path: KeyPath, value: Any) -> str:
        found = _DIGEST.fullmatch(value) if isinstance(value, str) else None
        if found is None:
            self._fail(path, f"{_dotted(path)} is not a SHA-256; allowed are 64 hexadecimal digits")
        return found.group(1).lower()

    def _line(self, path: KeyPath) -> int:
        while path and path not in self._lines:
            path = path[:-1]
        return self._lines.get(path, 1)

    def _fail(self, path: KeyPath, message: str, *, hint: str | None = None) -> NoReturn:
        line = self._line(path)
        raise TenantsFileError(f"{self._path}:{line}: {message}", hint=hint, file=str(self._path), line=line)


def _dotted(path: KeyPath) -> str:
    """Write a path as people write it: names with dots, positions in brackets."""
    text = ""
    for part in path:
        text += f"[{part}]" if isinstance(part, int) else f".{part}"
    return text.removeprefix(".")


def _kind(value: Any) -> str:
    words = {dict: "a table", list: "a list", str: "text", bool: "a boolean", int: "a number", float: "a number"}
    return words.get(type(value), f"a {type(value).__name__}")
