"""The tables in `docs/formats.md` say what the code does."""

from abi.formats import FORMATS
from tests.unit.abi.formats import conversion_table


def test_the_page_shows_the_tables_as_they_come_out_today() -> None:
    page = conversion_table.PAGE.read_text()
    shown = page.partition(conversion_table.BEGIN)[2].partition(conversion_table.END)[0].strip()
    assert shown == conversion_table.tables(), "run: python -m tests.unit.abi.formats.conversion_table"


def test_the_canonical_formats_keep_every_field() -> None:
    event = conversion_table.full_event()
    for name in ("protobuf", "json"):
        again = FORMATS[name].decode(FORMATS[name].encode(event))
        assert {conversion_table.fate(event, field, again) for field in conversion_table.FIELDS} == {"kept"}


def test_every_format_keeps_what_a_change_event_is_for() -> None:
    event = conversion_table.full_event()
    for chosen in FORMATS.values():
        again = chosen.decode(chosen.encode(event))
        assert (again.before, again.after, again.op, again.table) == (event.before, event.after, event.op, event.table)
        assert (again.ts, again.source.source_name) == (event.ts, event.source.source_name)
