"""The native twin of `tenant_guard`: let no event of another tenant pass."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from abi import Event, EventFailure
from guest_examples.configuration import Reader
from guest_examples.fields import Field, Images, Value, parse_field

TENANT_FIELD = "attribute:cdc.entity.tenant_id"


def build(config: Mapping[str, Any]) -> Callable[[Event], Event | list[Event] | None]:
    """Read the tenant and give the transform."""
    reader = Reader.open(config, ("tenant", "field", "on_mismatch"))
    tenant = reader.string("tenant")
    field = parse_field(reader.required("field") if reader.has("field") else TENANT_FIELD, "field")
    is_failing = reader.choice("on_mismatch", ("drop", "fail"), "drop") == "fail"

    def transform(event: Event) -> Event | None:
        values = list(_values(field, event))
        if values and all(value.kind in ("string", "number") and value.text == tenant for value in values):
            return event
        if is_failing:
            raise EventFailure("the event is of another tenant" if values else "the event has no tenant")
        return None

    return transform


def _values(field: Field, event: Event) -> Iterator[Value]:
    images = Images(event)
    if field.source != "row":
        return field.values(event, images)
    # A row that moves from one tenant to another has both in its images.
    return (value for image in ("before", "after") for value in images.select(image, field.path))
