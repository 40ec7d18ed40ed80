import json

from spark_udf.counters import MAX_DIFFERENCES, MAX_GUEST_METRICS, OTHER_METRICS, Counters
from spark_udf.ledger import Book, BookParam, WorkerLedger
from spark_udf.metrics import report, to_prometheus


def entry(events: int, *, stage: int = 1, partition: int = 0, attempt: int = 0, **more: object) -> str:
    rows = [["acme", "ab" * 32, {"events_in": events}]]
    return json.dumps({"stage": stage, "partition": partition, "attempt": attempt, "rows": rows, **more})


def total(book: Book) -> int:
    return sum(counters.events_in for counters in book.totals().values())


def test_entries_of_one_attempt_add_up() -> None:
    book = Book()
    for events in (3, 4):
        book.absorb(entry(events))
    assert total(book) == 7


def test_later_attempt_replaces_an_earlier_one_whatever_comes_first() -> None:
    for order in ((0, 9), (9, 0)):
        book = Book()
        for attempt in order:
            book.absorb(entry(10 + attempt, attempt=attempt))
        assert total(book) == 19


def test_partitions_stages_and_batches_are_kept_apart() -> None:
    book = Book()
    book.absorb(entry(1, partition=0))
    book.absorb(entry(2, partition=1))
    book.absorb(entry(4, stage=2))
    book.absorb(entry(8, query="q", batch="0"))
    book.absorb(entry(16, query="q", batch="1"))
    assert total(book) == 31
    assert [record.events_in for record in book.of_batch("q", 1).values()] == [16]


def test_old_groups_are_folded_together_and_not_lost() -> None:
    book = Book()
    for stage in range(500):
        book.absorb(entry(1, stage=stage))
    assert total(book) == 500
    book.clear()
    assert total(book) == 0


def test_worker_ledger_starts_over_after_each_entry_and_packs_large_ones() -> None:
    ledger, book = WorkerLedger(), Book()
    for number in range(500):
        ledger.of(f"tenant {number}", "cd" * 32).events_in = number
    text = ledger.take_entry()
    assert text is not None
    assert len(text) < 15_000
    assert ledger.take_entry() is None
    book.absorb(text)
    assert total(book) == sum(range(500))
    assert book.totals()["tenant 7", "cd" * 32].events_in == 7


def test_accumulator_adds_lists_on_executors_and_a_book_on_the_driver() -> None:
    param, book = BookParam(), Book()
    assert param.addInPlace(param.zero(book), ["x"]) == ["x"]
    assert param.addInPlace(book, [entry(5)]) is book
    assert total(book) == 5


def test_names_that_a_guest_invents_are_bounded() -> None:
    counters = Counters()
    counters.add_guest_metrics({f"name {number}": 1 for number in range(1000)})
    assert len(counters.guest_metrics) == MAX_GUEST_METRICS + 1
    assert counters.guest_metrics[OTHER_METRICS] == 1000 - MAX_GUEST_METRICS
    other = Counters(differences=[{"wasm": str(number)} for number in range(MAX_DIFFERENCES)])
    for _ in range(3):
        counters.add(other)
    assert len(counters.differences) == MAX_DIFFERENCES


def test_counters_survive_plain_values() -> None:
    counters = Counters(events_in=3, guest_seconds=0.5, failed_by_code={"X": 1}, guest_metrics={"m": -2})
    assert Counters.from_plain(json.loads(json.dumps(counters.to_plain()))) == counters
    assert Counters().to_plain() == {}


def test_prometheus_text_escapes_what_tenants_are_called() -> None:
    counters = Counters(
        events_in=2, events_failed=1, failed_by_code={"TRAP_UNREACHABLE": 1}, guest_metrics={'a"b\n': 4}
    )
    text = to_prometheus(report({('evil"\\\n', "ef" * 32): counters, ("", ""): Counters(events_in=1)}))
    assert 'wasm_host_events_in_total{tenant="evil\\"\\\\\\n",module="efefefefefef"} 2' in text
    assert 'wasm_host_events_in_total{tenant="",module=""} 1' in text
    assert 'code="TRAP_UNREACHABLE"} 1' in text
    assert 'name="a\\"b\\n"} 4' in text
    for line in text.splitlines():
        assert line.startswith(("# HELP ", "# TYPE ", "wasm_host_"))
