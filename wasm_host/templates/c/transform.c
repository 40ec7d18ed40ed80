// Keeps the events of one table and drops all others. Change wh_on_event into what you need.
#include "wasm_host.h"

static wh_bytes table;

// Called once, before the first event. What it refuses, the host shows to whoever wrote the configuration.
static void wh_on_config(wh_entry config) {
    wh_reader top = wh_open(config, WH_TEXT("table"));
    table = wh_check_string(wh_required(&top, WH_TEXT("table")));
}

// Called for each event. The answer may depend on the event and the configuration, on nothing else.
static wh_answer wh_on_event(const wh_event *event) {
    return wh_same(event->table, table) ? wh_keep(event) : wh_drop();
}
