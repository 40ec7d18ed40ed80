"""Which columns an event changed: what its producer says, or what its row images show."""

from collections.abc import Sequence

from abi import Event
from guest_examples.fields import Images
from guest_examples.jsonpath import parse, value_text

CHANGED_FIELDS = "cdc.operation.changed_fields"


def changed_columns(event: Event, images: Images, columns: Sequence[str]) -> list[str]:
    """Those of the columns that changed.

    The attribute counts when it is there. Otherwise a column has changed when its JSON text (or its absence) differs
    between the images, unless the source says that it did not send the new value.
    """
    if CHANGED_FIELDS in event.attributes:
        text = event.attributes[CHANGED_FIELDS]
        root = parse(text, CHANGED_FIELDS)
        listed = {value_text(text, node) for node in root.children if node.kind == "string"}
        return [column for column in columns if root.kind == "array" and column in listed]
    before, after = (_column_texts(images, image) for image in ("before", "after"))
    return [
        column
        for column in columns
        if before.get(column) != after.get(column) and column not in event.unavailable_columns
    ]


def _column_texts(images: Images, image: str) -> dict[str, bytes]:
    if image not in images.scanned():
        return {}
    text, root = images.scanned()[image]
    return {node.key: text[node.start : node.end] for node in root.children if node.key is not None}
