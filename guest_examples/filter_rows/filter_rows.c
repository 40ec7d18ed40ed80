// Keeps the events that a subscription asks for. The configuration and its texts: sdk/SEMANTICS.md.
#include "condition.h"

#define TENANT_FIELD WH_TEXT("attribute:cdc.entity.tenant_id")
#define TRIGGER WH_TEXT("cdc.operation.trigger")
#define CHANGED_FIELDS WH_TEXT("cdc.operation.changed_fields")
#define OPERATIONS WH_TEXT("INSERT, CREATE, UPDATE, DELETE, READ, SCHEMA_CHANGE, TRUNCATE")

static uint32_t operations, excluded_operations; // bit i: operation i; 0 when not given
static wh_texts entities, excluded_entities, tenants, triggers, changed_fields;
static wh_path changed_paths[WH_MAX_ENTRIES];
static comparison tenant_test; // is the field in the list of tenants?
static bool has_condition;
static condition where;

// ------------------------------------------------------------------------------------------------- configuration

static uint32_t check_operations(const wh_reader *reader, wh_bytes key) {
    static const uint8_t numbers[] = {
        WH_INSERT, WH_INSERT, WH_UPDATE, WH_DELETE, WH_READ, WH_SCHEMA_CHANGE, WH_TRUNCATE,
    };
    static wh_entries entries;
    if (!wh_has(reader, key)) return 0;
    uint32_t set = 0;
    wh_check_list(wh_required(reader, key), &entries);
    for (uint32_t i = 0; i < entries.count; i++) set |= 1u << numbers[wh_check_choice(entries.at[i], OPERATIONS)];
    return set;
}

static void wh_on_config(wh_entry config) {
    wh_reader top = wh_open(config, WH_TEXT("operations, exclude_operations, entities, exclude_entities, tenants, "
                                            "tenant_field, triggers, changed_fields, where"));
    operations = check_operations(&top, WH_TEXT("operations"));
    excluded_operations = check_operations(&top, WH_TEXT("exclude_operations"));
    wh_check_strings(&top, WH_TEXT("entities"), &entities);
    wh_check_strings(&top, WH_TEXT("exclude_entities"), &excluded_entities);
    wh_check_strings(&top, WH_TEXT("tenants"), &tenants);
    wh_entry tenant = {{.kind = WH_STR, .body = TENANT_FIELD}, WH_TEXT("tenant_field")};
    if (wh_has(&top, WH_TEXT("tenant_field"))) tenant = wh_required(&top, WH_TEXT("tenant_field"));
    tenant_test = (comparison){.field = check_field(tenant), .op = IN, .operand_count = tenants.count};
    tenant_test.operands = wh_alloc((tenants.count + 1) * sizeof(scalar));
    for (uint32_t i = 0; i < tenants.count; i++) tenant_test.operands[i] = (scalar){WH_JSON_STRING, tenants.at[i]};
    wh_check_strings(&top, WH_TEXT("triggers"), &triggers);
    wh_check_strings(&top, WH_TEXT("changed_fields"), &changed_fields);
    for (uint32_t i = 0; i < changed_fields.count; i++) changed_paths[i] = wh_path_of_key(changed_fields.at[i]);
    has_condition = wh_has(&top, WH_TEXT("where"));
    if (has_condition) where = check_conditions(wh_required(&top, WH_TEXT("where")));
}

// ------------------------------------------------------------------------------------------------------ evaluation

static bool is_of_tenant(context *seen) {
    uint64_t found = 0;
    return test_images(seen, &tenant_test.field.path, &tenant_test, 1, &found) &&
           test_envelope(seen, &tenant_test, 1, &found) && found;
}

static bool matches_any(const wh_texts *patterns, wh_bytes text) {
    for (uint32_t i = 0; i < patterns->count; i++) {
        if (wh_matches(patterns->at[i], text)) return true;
    }
    return false;
}

static bool is_entity(const wh_event *event, const wh_texts *patterns) {
    if (!patterns->count) return false;
    wh_bytes table = event->table.at ? event->table : WH_TEXT("");
    if (matches_any(patterns, table)) return true;
    if (!event->schema.at) return false;
    wh_buffer name = {0};
    wh_put(&name, event->schema);
    wh_put_byte(&name, '.');
    wh_put(&name, table);
    bool is_matched = matches_any(patterns, wh_whole(&name));
    wh_drop_buffer(&name);
    return is_matched;
}

static bool is_triggered(context *seen) {
    wh_bytes trigger;
    return find_attribute(seen, TRIGGER, &trigger) && trigger.at && matches_any(&triggers, trigger);
}

// Whether the producer lists one of the columns. Only strings right inside an array count.
static bool is_listed(context *seen, wh_bytes list) {
    static wh_segment any = {{0}, true};
    static const wh_path children = {&any, 1};
    static wh_walk walk;
    bool is_found = false;
    wh_walk_start(&walk, list, &children, 1);
    wh_json_step step;
    while ((step = wh_walk_next(&walk)) < WH_JSON_END) {
        bool is_in_array = list.at[walk.json.opened_at[0]] == '[';
        if (!is_in_array || walk.json.value.kind != WH_JSON_STRING) continue;
        wh_bytes column = wh_json_text(list, walk.json.value, &walk.scratch);
        is_found |= wh_is_one_of(column, changed_fields.at, changed_fields.count);
    }
    uint32_t trouble_at = walk.json.trouble_at;
    wh_walk_end(&walk);
    return step == WH_JSON_END ? is_found : fail_on_document(seen, CHANGED_FIELDS, trouble_at);
}

// The JSON text of each column in question; `at` is NULL when it is absent. Of duplicates the last counts.
static bool read_columns(context *seen, wh_bytes name, wh_bytes image, wh_bytes columns[WH_MAX_ENTRIES]) {
    static wh_walk walk;
    for (uint32_t i = 0; i < changed_fields.count; i++) columns[i] = (wh_bytes){0};
    if (!image.at) return true;
    wh_walk_start(&walk, image, changed_paths, changed_fields.count == 64 ? ~0ull : (1ull << changed_fields.count) - 1);
    wh_json_step step;
    while ((step = wh_walk_next(&walk)) < WH_JSON_END) {
        uint64_t matched = walk.matched;
        if (step == WH_JSON_OPEN && !wh_walk_skip(&walk)) {
            step = WH_JSON_BROKEN;
            break;
        }
        for (; matched; matched &= matched - 1) {
            columns[__builtin_ctzll(matched)] = wh_slice(image, walk.json.value.start, walk.json.value.end);
        }
    }
    uint32_t trouble_at = walk.json.trouble_at;
    wh_walk_end(&walk);
    return step == WH_JSON_END || fail_on_document(seen, name, trouble_at);
}

static bool is_unavailable(const wh_event *event, wh_bytes column) {
    wh_bytes rest = event->bytes, name;
    while (wh_next_of(&rest, WH_UNAVAILABLE_COLUMNS, &name)) {
        if (wh_same(name, column)) return true;
    }
    return false;
}

static bool is_changed(context *seen) {
    static wh_bytes before[WH_MAX_ENTRIES], after[WH_MAX_ENTRIES];
    wh_bytes list;
    if (!find_attribute(seen, CHANGED_FIELDS, &list)) return false;
    if (list.at) return is_listed(seen, list);
    if (!read_columns(seen, WH_TEXT("before"), seen->event->before, before)) return false;
    if (!read_columns(seen, WH_TEXT("after"), seen->event->after, after)) return false;
    for (uint32_t i = 0; i < changed_fields.count; i++) {
        bool is_same = !before[i].at == !after[i].at && wh_same(before[i], after[i]);
        if (!is_same && !is_unavailable(seen->event, changed_fields.at[i])) return true;
    }
    return false;
}

static wh_answer wh_on_event(const wh_event *event) {
    // Numbers that no operation has are in no list.
    uint32_t operation = event->op < 32 ? 1u << event->op : 0;
    bool is_rowless = event->op == WH_TRUNCATE || event->op == WH_SCHEMA_CHANGE;
    if (excluded_operations & operation) return wh_drop();
    if (operations && !(operations & operation) && !is_rowless) return wh_drop();
    if (entities.count && !is_entity(event, &entities)) return wh_drop();
    if (is_entity(event, &excluded_entities)) return wh_drop();
    // There is no row to look at, and losing one of these would corrupt a copy of the table.
    if (is_rowless) return wh_keep(event);
    context seen = {.event = event};
    bool is_kept = (!tenants.count || is_of_tenant(&seen)) && (!triggers.count || is_triggered(&seen)) &&
                   (!changed_fields.count || is_changed(&seen)) && (!has_condition || is_condition_met(&seen, &where));
    if (seen.failure) return seen.failure;
    return is_kept ? wh_keep(event) : wh_drop();
}
