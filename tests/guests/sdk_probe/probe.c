// Shows what the SDK does for a test: edits fields as the configuration says, and answers in each of the four ways.
#include "wasm_host.h"

static wh_entries edits;
static wh_entries settings;
static wh_texts removed;
static uint32_t answer_kind;

static void wh_on_config(wh_entry config) {
    wh_reader top = wh_open(config, WH_TEXT("answer, edits, attributes, removed"));
    answer_kind = wh_check_choice(wh_required(&top, WH_TEXT("answer")), WH_TEXT("event, drop, both, fail, fields"));
    wh_check_list(wh_required(&top, WH_TEXT("edits")), &edits);
    for (uint32_t i = 0; i < edits.count; i++) wh_open(edits.at[i], WH_TEXT("field, bytes, number"));
    wh_check_strings(&top, WH_TEXT("removed"), &removed);
    wh_value given;
    if (wh_lookup(&top.map, WH_TEXT("attributes"), &given)) wh_check_list(wh_required(&top, WH_TEXT("attributes")), &settings);
    for (uint32_t i = 0; i < settings.count; i++) wh_open(settings.at[i], WH_TEXT("key, value"));
}

static void edit(wh_change *change, wh_value map) {
    wh_value number, value;
    if (!wh_lookup(&map, WH_TEXT("field"), &number)) return;
    if (wh_lookup(&map, WH_TEXT("bytes"), &value)) wh_set(change, (uint32_t)number.number, value.body);
    else if (wh_lookup(&map, WH_TEXT("number"), &value)) wh_set_number(change, (uint32_t)number.number, value.number);
    else wh_remove(change, (uint32_t)number.number);
}

// Removes and sets attributes; false when one of the event cannot be read.
static bool edit_attributes(wh_change *change, const wh_event *event, uint32_t *trouble_at) {
    if (removed.count && !wh_remove_attributes(change, event, removed.at, removed.count, trouble_at)) return false;
    for (uint32_t i = 0; i < settings.count; i++) {
        wh_value key, value;
        if (!wh_lookup(&settings.at[i].value, WH_TEXT("key"), &key)) continue;
        if (!wh_lookup(&settings.at[i].value, WH_TEXT("value"), &value)) continue;
        if (!wh_set_attribute(change, event, key.body, value.body, trouble_at)) return false;
    }
    return true;
}

// The scalar fields in words, as a failure: what the SDK has read.
static wh_answer show(const wh_event *event) {
    wh_buffer text = {0};
    wh_put_decimal(&text, event->op);
    wh_put_byte(&text, ' ');
    wh_put_decimal(&text, event->ts);
    wh_put_byte(&text, ' ');
    wh_put_decimal(&text, event->envelope_version);
    wh_put_byte(&text, ' ');
    wh_put_decimal(&text, event->before_is_key_only);
    wh_put_byte(&text, ' ');
    wh_put(&text, event->schema.at ? event->schema : WH_TEXT("-"));
    wh_put_byte(&text, ' ');
    wh_put(&text, event->table);
    wh_bytes value;
    uint32_t trouble_at;
    wh_put_byte(&text, ' ');
    if (wh_find_attribute(event, WH_TEXT("k"), &value, &trouble_at)) wh_put(&text, value.at ? value : WH_TEXT("-"));
    return wh_fail(wh_whole(&text));
}

static wh_answer wh_on_event(const wh_event *event) {
    wh_count("probe.events", 2);
    wh_count("probe.events", wh_counted("probe.events"));
    wh_log(WH_WARN, WH_TEXT("seen"));
    if (answer_kind == 1) return wh_drop();
    if (answer_kind == 3) return wh_fail(WH_TEXT("as asked"));
    if (answer_kind == 4) return show(event);
    wh_change change = {.count = 0};
    for (uint32_t i = 0; i < edits.count; i++) edit(&change, edits.at[i].value);
    uint32_t trouble_at;
    if (!edit_attributes(&change, event, &trouble_at)) return wh_fail_not_an_event(trouble_at);
    if (answer_kind == 0) return wh_changed(event, &change);
    wh_buffer changed = {0}, both = {0};
    wh_put_changed(&changed, event, &change);
    wh_put_event(&both, event->bytes);
    wh_put_event(&both, wh_whole(&changed));
    return wh_several(both);
}
