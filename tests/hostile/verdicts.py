"""What `wasm-host test` must say of each guest of the registry.

Most fail in the section that their file stands for. A guest that passes needs a reason here, and bytes that are no
module at all are bad usage (status 2). Names are those of the registry, with or without parameters.
"""

from dataclasses import dataclass

USUAL_SECTION = {"test_load_refusals.py": "contract"}
OTHERWISE = "properties"

SECTIONS = {
    "test_alloc.py::test_alloc_without_a_block_for_the_configuration_is_refused": "lifecycle",
    "test_resources.py::test_declared_memory_of_4_gib_is_refused": "contract",
    "test_resources.py::test_declared_table_bombs_are_refused": "contract",
    "test_resources.py::test_too_many_tables_for_the_engine_are_refused": "contract",
    "test_resources.py::test_more_locals_than_wasm_allows_are_refused": "contract",
    "test_resources.py::test_deep_recursion_before_the_guest_is_ready_is_refused": "lifecycle",
    "test_spin.py::test_spin_before_the_guest_is_ready_is_refused_under_init_fuel": "lifecycle",
    "test_spin.py::test_spin_in_shutdown_is_noted_and_costs_no_event": "lifecycle",
    "test_spin.py::test_spin_in_shutdown_of_each_events_instance_costs_no_event": "lifecycle",
    "test_state.py::test_counting_guest_tells_its_instances_apart_only_where_they_live_on": "lifecycle",
    "test_texts.py::test_refusal_of_the_configuration_is_escaped_and_cut": "lifecycle",
    "test_traps.py::test_trap_before_the_guest_is_ready_is_refused_with_the_export": "lifecycle",
    "test_traps.py::test_data_segment_outside_memory_is_refused_as_a_trap_at_start": "lifecycle",
    "test_traps.py::test_element_segment_outside_its_table_is_refused_as_a_trap_at_start": "lifecycle",
    "test_traps.py::test_trap_in_shutdown_is_noted": "lifecycle",
    "test_traps.py::test_status_of_shutdown_is_noted": "lifecycle",
}

_NO_MODULE = "test_load_refusals.py::test_what_is_no_module_is_refused"
MISUSE = {
    *(f"{_NO_MODULE}[{kind}]" for kind in ("empty", "windows-executable", "escape-codes", "elf", "component")),
    *(f"{_NO_MODULE}[{kind}]" for kind in ("text", "indented-text")),
    "test_load_refusals.py::test_huge_module_is_refused_by_its_size_alone",
}

_WORDS = "test_texts.py::test_words_of_a_failure_are_one_escaped_line"
_QUOTED = "a failure in words is an answer; control characters may be quoted from the event, and the host escapes them"
ACCEPTED = {
    **{f"{_WORDS}[{kind}]": _QUOTED for kind in ("plain", "control", "newlines", "bidi", "separators", "private-use")},
    f"{_WORDS}[formats]": _QUOTED,
    "test_texts.py::test_failure_without_words_says_so_with_none": "a failure needs no words",
    "test_texts.py::test_words_beside_a_healthy_event_are_escaped_log_lines": "a log line is fine; the host escapes it",
    "test_floods.py::test_log_of_the_whole_memory_is_one_cut_line": "one line an event, which the host cuts",
    "test_floods.py::test_log_before_the_guest_is_ready_is_counted_as_lost": "nobody's line is lost but its own first",
    "test_floods.py::test_hostile_metric_names_are_escaped": "one name, which the host escapes",
    "test_floods.py::test_metric_values_wrap_within_an_event_without_harm": "its own count is its own harm",
    "test_load_refusals.py::test_proposals_that_toolchains_use_are_taken": "not hostile: what compilers write",
    "test_load_refusals.py::test_module_of_very_many_functions_loads_like_any_other": "not hostile: only large",
    "test_resources.py::test_grow_bomb_at_once_gets_minus_one_and_goes_on": "it takes the no and goes on",
    "test_resources.py::test_declared_maximum_of_4_gib_is_no_promise": "compilers declare that; nothing is taken",
    "test_resources.py::test_event_larger_than_the_guests_memory_fails_without_being_shown":
        "the guest is the healthy one; the event is hostile",
    "test_resources.py::test_event_that_fits_the_limit_but_not_what_is_left_of_it_fails_with_the_memory_limit":
        "the guest is the healthy one; the event is hostile",
}  # fmt: skip


@dataclass(frozen=True)
class Verdict:
    """Exit status, and the section that fails when it is 1."""

    status: int
    section: str | None = None


def verdict_of(name: str) -> Verdict:
    """What is expected of a guest of the registry."""
    plain = name.partition("[")[0]
    if name in ACCEPTED or plain in ACCEPTED:
        return Verdict(0)
    if name in MISUSE or plain in MISUSE:
        return Verdict(2)
    return Verdict(1, SECTIONS.get(plain) or USUAL_SECTION.get(name.partition("::")[0], OTHERWISE))
