// Hides values of both row images by dotted path. The configuration and its texts: sdk/SEMANTICS.md.
#include "wasm_host.h"

#define ACTIONS WH_TEXT("redact, null, truncate, hash, hmac, keep_last, keep")
typedef enum { REDACT, NULLIFY, TRUNCATE, HASH, HMAC, KEEP_LAST, KEEP } action_name;

typedef struct {
    action_name name;
    uint32_t characters;
    wh_buffer marker; // REDACT: as JSON
} action;

static struct {
    wh_path paths[WH_MAX_PATHS];
    action actions[WH_MAX_PATHS];
    const char *unmatched[WH_MAX_PATHS]; // names of the counters
    uint32_t count;
} rules;
static action otherwise; // the default
static wh_hmac_key hmac_key;

// Attributes that repeat values of the row, where a path rule does not reach, and those the configuration adds.
#define ROW_ATTRIBUTES 4
static struct {
    wh_bytes at[ROW_ATTRIBUTES + WH_MAX_ENTRIES];
    uint32_t count;
} removed;

// ------------------------------------------------------------------------------------------------- configuration

static void read_hmac_key(const wh_reader *top) {
    wh_entry key = wh_required(top, WH_TEXT("hmac_key"));
    if (key.value.kind != WH_STR && key.value.kind != WH_BIN) {
        wh_refuse(key.location, WH_TEXT("must be a string or bytes"));
    } else if (key.value.body.size < 16) {
        wh_refuse(key.location, WH_TEXT("must have at least 16 bytes"));
    } else {
        hmac_key = wh_hmac_prepare(key.value.body);
    }
}

static action read_action(const wh_reader *reader, const wh_reader *top) {
    action made = {.name = (action_name)wh_check_choice(wh_required(reader, WH_TEXT("action")), ACTIONS)};
    bool has_marker = wh_has(reader, WH_TEXT("marker"));
    bool has_n = wh_has(reader, WH_TEXT("n"));
    bool takes_n = made.name == TRUNCATE || made.name == KEEP_LAST;
    if (has_marker && made.name != REDACT) {
        wh_refuse(wh_place(reader, WH_TEXT("marker")), WH_TEXT("is only for redact"));
    }
    if (has_n && !takes_n) wh_refuse(wh_place(reader, WH_TEXT("n")), WH_TEXT("is only for truncate and keep_last"));
    if (made.name == REDACT) {
        wh_bytes marker = has_marker ? wh_check_string(wh_required(reader, WH_TEXT("marker"))) : WH_TEXT("***");
        wh_put_json_string(&made.marker, marker);
    }
    if (takes_n) made.characters = wh_check_integer(wh_required(reader, WH_TEXT("n")), 0, 1000000);
    if (made.name == HMAC) read_hmac_key(top);
    return made;
}

static const char *counter_of(wh_bytes path) {
    wh_buffer name = {0};
    wh_put(&name, WH_TEXT("mask_pii.unmatched."));
    wh_put(&name, path);
    wh_put_byte(&name, 0);
    return (const char *)name.at;
}

static void read_rule(wh_entry entry, const wh_reader *top) {
    wh_reader reader = wh_open(entry, WH_TEXT("path, action, marker, n"));
    wh_entry path = wh_required(&reader, WH_TEXT("path"));
    uint32_t index = rules.count++;
    rules.paths[index] = wh_check_path(path);
    for (uint32_t i = 0; i < index; i++) {
        if (wh_same_path(&rules.paths[i], &rules.paths[index])) wh_refuse(path.location, WH_TEXT("is given twice"));
    }
    rules.actions[index] = read_action(&reader, top);
    rules.unmatched[index] = counter_of(path.value.body);
}

static void read_removed(const wh_reader *top) {
    removed.at[0] = WH_TEXT("cdc.entity.entity_identifier");
    removed.at[1] = WH_TEXT("cdc.operation.changed_field_values");
    removed.at[2] = WH_TEXT("debezium.tombstone");
    removed.at[3] = WH_TEXT("opencdc.key");
    static wh_texts more;
    wh_check_strings(top, WH_TEXT("remove_attributes"), &more);
    for (uint32_t i = 0; i < more.count; i++) removed.at[ROW_ATTRIBUTES + i] = more.at[i];
    removed.count = ROW_ATTRIBUTES + more.count;
}

static void wh_on_config(wh_entry config) {
    wh_reader top = wh_open(config, WH_TEXT("rules, default, hmac_key, remove_attributes"));
    rules.count = 0;
    if (wh_has(&top, WH_TEXT("rules"))) {
        static wh_entries entries;
        wh_check_list(wh_required(&top, WH_TEXT("rules")), &entries);
        for (uint32_t i = 0; i < entries.count; i++) read_rule(entries.at[i], &top);
    }
    otherwise = (action){.name = KEEP};
    if (wh_has(&top, WH_TEXT("default"))) {
        wh_reader reader = wh_open(wh_required(&top, WH_TEXT("default")), WH_TEXT("action, marker, n"));
        otherwise = read_action(&reader, &top);
    }
    if (!rules.count && otherwise.name == KEEP) {
        wh_refuse((wh_bytes){0}, WH_TEXT("has neither rules nor a default"));
    }
    read_removed(&top);
}

// --------------------------------------------------------------------------------------------------------- masking

// The offset behind the first `characters` of a text, or its size when it has no more than these.
static uint32_t offset_of(wh_bytes text, uint32_t characters) {
    for (uint32_t at = 0; at < text.size; at++) {
        if ((text.at[at] & 0xc0) != 0x80 && characters-- == 0) return at;
    }
    return text.size;
}

static uint32_t characters_of(wh_bytes text) {
    uint32_t count = 0;
    for (uint32_t at = 0; at < text.size; at++) count += (text.at[at] & 0xc0) != 0x80;
    return count;
}

static void put_last_characters(wh_buffer *out, wh_bytes text, uint32_t shown) {
    uint32_t count = characters_of(text);
    // A text that is not longer than what may be seen is hidden as a whole.
    uint32_t hidden = count > shown ? count - shown : count;
    wh_buffer masked = {0};
    wh_reserve(&masked, text.size);
    for (uint32_t i = 0; i < hidden; i++) wh_put_byte(&masked, '*');
    wh_put(&masked, wh_slice(text, offset_of(text, hidden), text.size));
    wh_put_json_string(out, wh_whole(&masked));
    wh_drop_buffer(&masked);
}

static void put_digest(wh_buffer *out, const uint8_t digest[32]) {
    wh_put_byte(out, '"');
    wh_put_hex(out, (wh_bytes){digest, 32});
    wh_put_byte(out, '"');
}

// Replaces one value, unless the action leaves it as it is. A null hides nothing and stays null.
static void apply(const action *act, wh_edit *edit, wh_json_value value, wh_buffer *scratch) {
    if (act->name == KEEP || value.kind == WH_JSON_NULL) return;
    wh_bytes text = {0};
    if (act->name != REDACT && act->name != NULLIFY) text = wh_json_text(edit->text, value, scratch);
    if (act->name == TRUNCATE) {
        uint32_t end = offset_of(text, act->characters);
        if (end == text.size) return;
        text.size = end;
    }
    wh_replace(edit, value);
    uint8_t digest[32];
    switch (act->name) {
        case REDACT: wh_put(&edit->out, wh_whole(&act->marker)); break;
        case NULLIFY: wh_put(&edit->out, WH_TEXT("null")); break;
        case TRUNCATE: wh_put_json_string(&edit->out, text); break;
        case KEEP_LAST: put_last_characters(&edit->out, text, act->characters); break;
        case HASH: {
            wh_sha256 hash = wh_sha256_start();
            wh_sha256_add(&hash, text);
            wh_sha256_end(&hash, digest);
            put_digest(&edit->out, digest);
            break;
        }
        case HMAC:
            wh_hmac(&hmac_key, text, digest);
            put_digest(&edit->out, digest);
            break;
        case KEEP: break;
    }
}

// Masks one image into `edit`. `matched` gathers the rules that led to a value. False when the image is no JSON.
static bool mask(wh_bytes image, wh_edit *edit, uint64_t *matched, uint32_t *trouble_at) {
    static const action keep = {.name = KEEP};
    static wh_walk walk;
    uint32_t kept_level = WH_JSON_DEPTH; // of the outermost container that a rule keeps; the default is off below it
    uint32_t kept_start = 0;
    *edit = (wh_edit){.text = image};
    wh_walk_start(&walk, image, rules.paths, rules.count == 64 ? ~0ull : (1ull << rules.count) - 1);
    walk.stops_at_leaves = otherwise.name != KEEP;
    wh_json_step step;
    while ((step = wh_walk_next(&walk)) < WH_JSON_END) {
        const wh_json *json = &walk.json;
        bool is_kept = json->depth > kept_level && json->opened_at[kept_level] == kept_start;
        const action *act = is_kept ? &keep : &otherwise;
        if (walk.matched) act = &rules.actions[__builtin_ctzll(walk.matched)];
        *matched |= walk.matched;
        if (step == WH_JSON_OPEN) {
            if (act->name == KEEP) {
                if (!is_kept) {
                    kept_level = json->depth - 1;
                    kept_start = json->value.start;
                }
                continue;
            }
            if (!wh_walk_skip(&walk)) {
                step = WH_JSON_BROKEN;
                break;
            }
        }
        apply(act, edit, json->value, &walk.scratch);
    }
    *trouble_at = walk.json.trouble_at;
    wh_walk_end(&walk);
    return step == WH_JSON_END;
}

static void count_unmatched(uint64_t matched) {
    for (uint32_t i = 0; i < rules.count; i++) {
        if (!(matched >> i & 1)) wh_count(rules.unmatched[i], 1);
    }
}

static wh_answer wh_on_event(const wh_event *event) {
    uint32_t trouble_at;
    uint64_t matched = 0;
    wh_edit before = {0}, after = {0};
    wh_change change = {.count = 0};
    wh_answer answer;
    if (event->before.at && !mask(event->before, &before, &matched, &trouble_at)) {
        answer = wh_fail_json(WH_TEXT("before"), trouble_at);
    } else if (event->after.at && !mask(event->after, &after, &matched, &trouble_at)) {
        answer = wh_fail_json(WH_TEXT("after"), trouble_at);
    } else if (!wh_remove_attributes(&change, event, removed.at, removed.count, &trouble_at)) {
        answer = wh_fail_not_an_event(trouble_at);
    } else {
        if (before.out.at) wh_set(&change, WH_BEFORE, wh_edited(&before));
        if (after.out.at) wh_set(&change, WH_AFTER, wh_edited(&after));
        if (event->before.at || event->after.at) count_unmatched(matched);
        answer = wh_changed(event, &change);
    }
    wh_drop_buffer(&before.out);
    wh_drop_buffer(&after.out);
    return answer;
}
