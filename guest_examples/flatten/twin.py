"""The native twin of `flatten`: members of nested objects become columns with dotted names."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from abi import Event, EventFailure
from guest_examples.configuration import Reader, check_name
from guest_examples.fields import Images
from guest_examples.jsonpath import Node, decode_string, encode_string, parse

MAX_DEPTH = 128


def build(config: Mapping[str, Any]) -> Callable[[Event], Event | list[Event] | None]:
    """Read separator and depth and give the transform."""
    reader = Reader.open(config, ("separator", "max_depth"))
    separator = check_name(reader.required("separator"), "separator") if reader.has("separator") else "."
    max_depth = reader.integer("max_depth", 1, MAX_DEPTH, MAX_DEPTH)
    joint = encode_string(separator)[1:-1]

    def transform(event: Event) -> Event:
        Images(event).scanned()
        for image in ("before", "after"):
            if event.HasField(image):
                setattr(event, image, _flatten(getattr(event, image), image, joint, max_depth))
        return event

    return transform


def _flatten(text: bytes, image: str, joint: bytes, max_depth: int) -> bytes:
    root = parse(text, image)
    if root.kind != "object" or not any(_is_dissolved(child) for child in root.children):
        return text
    members = list(_members(text, root, b"", joint, 1, max_depth))
    seen: set[str] = set()
    for key, _ in members:
        decoded = decode_string(b'"' + key + b'"')
        if decoded in seen:
            raise EventFailure(f"{image} has two columns {decoded}")
        seen.add(decoded)
    body = b",".join(b'"' + key + b'":' + value for key, value in members)
    return text[: root.start] + b"{" + body + b"}" + text[root.end :]


def _is_dissolved(node: Node) -> bool:
    return node.kind == "object" and bool(node.children)


def _members(
    text: bytes, node: Node, prefix: bytes, joint: bytes, level: int, max_depth: int
) -> Iterator[tuple[bytes, bytes]]:
    for child in node.children:
        key = prefix + text[child.key_start + 1 : child.key_end - 1]
        if _is_dissolved(child) and level <= max_depth:
            yield from _members(text, child, key + joint, joint, level + 1, max_depth)
        else:
            yield key, text[child.start : child.end]
