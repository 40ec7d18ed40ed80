// Conditions on the values of an event: fields, scalars, comparisons, and their combination by all, any and not.
// The grammar and the texts: sdk/SEMANTICS.md, "Fields", "Scalars" and "Conditions".
#ifndef CONDITION_H
#define CONDITION_H

#include "wasm_host.h"

#define COMPARISONS WH_TEXT("=, !=, <, <=, >, >=, in, prefix, suffix, contains, exists")
#define MAX_COMPARISONS 64
#define MAX_CONDITION_DEPTH 8

typedef enum { EQUAL, NOT_EQUAL, LESS, AT_MOST, MORE, AT_LEAST, IN, PREFIX, SUFFIX, CONTAINS, EXISTS } operator;

// Where a value is taken from; the last three are row images.
typedef enum { SCHEMA, TABLE, ATTRIBUTE, BEFORE, AFTER, ROW } source;

typedef struct {
    source source;
    wh_bytes name; // of the attribute
    wh_path path;  // in the image
} field;

// A value of an event or of the configuration: decoded text of a string, JSON text of anything else.
typedef struct {
    wh_json_kind kind;
    wh_bytes text;
} scalar;

typedef struct {
    field field;
    operator op;
    scalar *operands;
    uint32_t operand_count;
} comparison;

typedef enum { ALL, ANY, NOT, COMPARE } combination;

typedef struct condition {
    combination combine;
    uint32_t comparison; // COMPARE: its number
    struct condition *parts;
    uint32_t part_count;
} condition;

static comparison comparisons[MAX_COMPARISONS];
static wh_path comparison_paths[MAX_COMPARISONS];
static uint32_t comparison_count; // may pass the maximum while a configuration is read

// ------------------------------------------------------------------------------------------------- configuration

static field check_field(wh_entry entry) {
    wh_bytes text = wh_check_string(entry);
    if (wh_starts_with(text, WH_TEXT("event:"))) {
        wh_bytes name = wh_slice(text, 6, text.size);
        if (wh_same(name, WH_TEXT("table"))) return (field){.source = TABLE};
        if (!wh_same(name, WH_TEXT("schema"))) {
            wh_refuse(entry.location, WH_TEXT("must be event:schema or event:table"));
        }
        return (field){.source = SCHEMA};
    }
    if (wh_starts_with(text, WH_TEXT("attribute:"))) {
        wh_bytes name = wh_slice(text, 10, text.size);
        if (name.size < 1 || name.size > 100) {
            wh_refuse(entry.location, WH_TEXT("must name an attribute of 1 to 100 bytes"));
        }
        return (field){.source = ATTRIBUTE, .name = name};
    }
    field found = {.source = ROW};
    uint32_t skip = 0;
    if (wh_starts_with(text, WH_TEXT("before:"))) found.source = BEFORE, skip = 7;
    else if (wh_starts_with(text, WH_TEXT("after:"))) found.source = AFTER, skip = 6;
    else if (wh_starts_with(text, WH_TEXT("row:"))) skip = 4;
    if (entry.value.kind == WH_STR) entry.value.body = wh_slice(text, skip, text.size);
    found.path = wh_check_path(entry);
    return found;
}

static scalar check_scalar(wh_entry entry) {
    wh_value value = entry.value;
    if (value.kind == WH_NIL) return (scalar){WH_JSON_NULL, WH_TEXT("null")};
    if (value.kind == WH_BOOL) return (scalar){WH_JSON_BOOLEAN, value.number ? WH_TEXT("true") : WH_TEXT("false")};
    if (value.kind == WH_STR) return (scalar){WH_JSON_STRING, value.body};
    if (value.kind == WH_INT) {
        wh_buffer text = {0};
        if (value.negative) wh_put_byte(&text, '-');
        wh_put_decimal(&text, value.negative ? 0 - value.number : value.number);
        return (scalar){WH_JSON_NUMBER, wh_whole(&text)};
    }
    scalar made = {.kind = WH_JSON_NUMBER};
    if (value.kind != WH_MAP) {
        wh_refuse(entry.location, WH_TEXT("must be a string, an integer, a boolean, nil or {\"decimal\": text}"));
        return made;
    }
    wh_reader reader = wh_open(entry, WH_TEXT("decimal"));
    wh_entry decimal = wh_required(&reader, WH_TEXT("decimal"));
    made.text = wh_check_string(decimal);
    if (!wh_is_number(made.text)) wh_refuse(decimal.location, WH_TEXT("must be a JSON number"));
    return made;
}

static void refuse_for(wh_bytes location, wh_bytes problem, operator op) {
    static const wh_bytes names[] = {
        [LESS] = WH_TEXT("<"),         [AT_MOST] = WH_TEXT("<="),      [MORE] = WH_TEXT(">"),
        [AT_LEAST] = WH_TEXT(">="),    [PREFIX] = WH_TEXT("prefix"),   [SUFFIX] = WH_TEXT("suffix"),
        [CONTAINS] = WH_TEXT("contains"), [EXISTS] = WH_TEXT("exists"),
    };
    wh_buffer text = {0};
    wh_put(&text, problem);
    wh_put(&text, names[op]);
    wh_refuse(location, wh_whole(&text));
}

static void check_operands(const wh_reader *reader, comparison *made) {
    wh_entry value = wh_required(reader, WH_TEXT("value"));
    if (made->op == IN) {
        wh_entries *entries = wh_alloc(sizeof(wh_entries));
        wh_check_list(value, entries);
        made->operands = wh_alloc((entries->count + 1) * sizeof(scalar));
        for (uint32_t i = 0; i < entries->count; i++) made->operands[i] = check_scalar(entries->at[i]);
        made->operand_count = entries->count;
        wh_free(entries);
        return;
    }
    made->operands = wh_alloc(sizeof(scalar));
    made->operand_count = 1;
    scalar operand = made->operands[0] = check_scalar(value);
    bool is_order = made->op >= LESS && made->op <= AT_LEAST;
    bool is_text = made->op >= PREFIX && made->op <= CONTAINS;
    if (is_order && operand.kind != WH_JSON_STRING && operand.kind != WH_JSON_NUMBER) {
        refuse_for(value.location, WH_TEXT("must be a string or a number for "), made->op);
    }
    if (is_text && operand.kind != WH_JSON_STRING) {
        refuse_for(value.location, WH_TEXT("must be a string for "), made->op);
    }
    if (made->op == EXISTS && operand.kind != WH_JSON_BOOLEAN) {
        refuse_for(value.location, WH_TEXT("must be true or false for "), made->op);
    }
}

static condition check_comparison(wh_entry entry) {
    wh_reader reader = wh_open(entry, WH_TEXT("field, op, value"));
    comparison made = {.field = check_field(wh_required(&reader, WH_TEXT("field")))};
    made.op = (operator)wh_check_choice(wh_required(&reader, WH_TEXT("op")), COMPARISONS);
    check_operands(&reader, &made);
    uint32_t number = comparison_count++;
    if (number < MAX_COMPARISONS) {
        comparisons[number] = made;
        comparison_paths[number] = made.field.path;
    }
    return (condition){.combine = COMPARE, .comparison = number};
}

static condition check_condition(wh_entry entry, uint32_t depth) {
    if (depth > MAX_CONDITION_DEPTH) {
        wh_refuse(entry.location, WH_TEXT("is nested deeper than 8 levels"));
        return (condition){0};
    }
    static const wh_bytes keys[] = {WH_TEXT("all"), WH_TEXT("any"), WH_TEXT("not")};
    wh_value part;
    uint32_t combine = ALL;
    while (combine < COMPARE && !wh_lookup(&entry.value, keys[combine], &part)) combine++;
    if (combine == COMPARE) return check_comparison(entry);
    wh_reader reader = wh_open(entry, keys[combine]);
    wh_entry inner = wh_required(&reader, keys[combine]);
    condition made = {.combine = (combination)combine, .part_count = 1};
    if (combine == NOT) {
        made.parts = wh_alloc(sizeof(condition));
        made.parts[0] = check_condition(inner, depth + 1);
        return made;
    }
    wh_entries *entries = wh_alloc(sizeof(wh_entries));
    wh_check_list(inner, entries);
    made.part_count = entries->count;
    made.parts = wh_alloc((entries->count + 1) * sizeof(condition));
    for (uint32_t i = 0; i < entries->count; i++) made.parts[i] = check_condition(entries->at[i], depth + 1);
    wh_free(entries);
    return made;
}

static condition check_conditions(wh_entry entry) {
    comparison_count = 0;
    condition made = check_condition(entry, 1);
    if (comparison_count > MAX_COMPARISONS) wh_refuse(entry.location, WH_TEXT("has more than 64 comparisons"));
    return made;
}

// ------------------------------------------------------------------------------------------------------ evaluation

// What is known of one event while it is looked at. `failure` is the answer as soon as something is broken.
typedef struct {
    const wh_event *event;
    wh_answer failure;
} context;

static bool equals(scalar value, scalar other) {
    if (value.kind != other.kind) return false;
    if (value.kind == WH_JSON_NUMBER) return wh_compare_decimals(value.text, other.text) == 0;
    return wh_same(value.text, other.text);
}

static bool is_in_order(operator op, scalar value, scalar other) {
    if (value.kind != other.kind) return false;
    int order;
    if (value.kind == WH_JSON_NUMBER) order = wh_compare_decimals(value.text, other.text);
    else order = wh_order(value.text, other.text);
    switch (op) {
        case LESS: return order < 0;
        case AT_MOST: return order <= 0;
        case MORE: return order > 0;
        default: return order >= 0;
    }
}

static bool satisfies(const comparison *test, scalar value) {
    bool is_text = value.kind == WH_JSON_STRING;
    wh_bytes operand = test->operands[0].text;
    switch (test->op) {
        case LESS:
        case AT_MOST:
        case MORE:
        case AT_LEAST: return is_in_order(test->op, value, test->operands[0]);
        case PREFIX: return is_text && wh_starts_with(value.text, operand);
        case SUFFIX: return is_text && wh_ends_with(value.text, operand);
        case CONTAINS: return is_text && wh_contains(value.text, operand);
        case EXISTS: return true;
        case NOT_EQUAL: return !equals(value, test->operands[0]);
        default: break;
    }
    for (uint32_t i = 0; i < test->operand_count; i++) {
        if (equals(value, test->operands[i])) return true;
    }
    return false;
}

static bool fail_on_document(context *seen, wh_bytes name, uint32_t trouble_at) {
    seen->failure = wh_fail_json(name, trouble_at);
    return false;
}

static source image_of(const wh_event *event, source from) {
    return from == ROW ? (event->after.at ? AFTER : BEFORE) : from;
}

// Runs a walk over one image for the paths in `active`; `found` gathers the comparisons that a value satisfies.
static bool test_image(context *seen, source image, const wh_path *paths, uint64_t active, const comparison *tests,
                       uint64_t *found) {
    static wh_walk walk;
    bool is_before = image == BEFORE;
    wh_bytes text = is_before ? seen->event->before : seen->event->after;
    if (!text.at) return true;
    wh_walk_start(&walk, text, paths, active);
    wh_json_step step;
    while ((step = wh_walk_next(&walk)) < WH_JSON_END) {
        // Containers equal nothing, so the text of one is never looked at.
        scalar value = {.kind = walk.json.value.kind};
        if (step == WH_JSON_VALUE) value.text = wh_json_text(text, walk.json.value, &walk.scratch);
        for (uint64_t left = walk.matched & ~*found; left; left &= left - 1) {
            uint32_t index = (uint32_t)__builtin_ctzll(left);
            if (satisfies(&tests[index], value)) *found |= 1ull << index;
        }
    }
    uint32_t trouble_at = walk.json.trouble_at;
    wh_walk_end(&walk);
    if (step == WH_JSON_END) return true;
    return fail_on_document(seen, is_before ? WH_TEXT("before") : WH_TEXT("after"), trouble_at);
}

// Tests every comparison that reads an image, in one walk over each. The walks check the images as well.
static bool test_images(context *seen, const wh_path *paths, const comparison *tests, uint32_t count, uint64_t *found) {
    uint64_t in_before = 0, in_after = 0;
    for (uint32_t i = 0; i < count; i++) {
        source from = image_of(seen->event, tests[i].field.source);
        if (from == BEFORE) in_before |= 1ull << i;
        if (from == AFTER) in_after |= 1ull << i;
    }
    if (!(in_before | in_after)) return true;
    return test_image(seen, BEFORE, paths, in_before, tests, found) &&
           test_image(seen, AFTER, paths, in_after, tests, found);
}

static bool find_attribute(context *seen, wh_bytes key, wh_bytes *value) {
    uint32_t trouble_at;
    if (wh_find_attribute(seen->event, key, value, &trouble_at)) return true;
    seen->failure = wh_fail_not_an_event(trouble_at);
    return false;
}

// Tests the comparisons that read the envelope.
static bool test_envelope(context *seen, const comparison *tests, uint32_t count, uint64_t *found) {
    for (uint32_t i = 0; i < count; i++) {
        scalar value = {.kind = WH_JSON_STRING};
        switch (tests[i].field.source) {
            case SCHEMA: value.text = seen->event->schema; break;
            case TABLE:
                value.text = seen->event->table;
                if (!value.text.at) value.text = WH_TEXT("");
                break;
            case ATTRIBUTE:
                if (!find_attribute(seen, tests[i].field.name, &value.text)) return false;
                break;
            default: continue;
        }
        if (value.text.at && satisfies(&tests[i], value)) *found |= 1ull << i;
    }
    return true;
}

static bool holds(const condition *node, uint64_t found) {
    if (node->combine == COMPARE) {
        const comparison *test = &comparisons[node->comparison];
        bool is_found = found >> node->comparison & 1;
        if (test->op != EXISTS) return is_found;
        return is_found == wh_same(test->operands[0].text, WH_TEXT("true"));
    }
    for (uint32_t i = 0; i < node->part_count; i++) {
        bool is_held = holds(&node->parts[i], found);
        if (node->combine == ALL && !is_held) return false;
        if (node->combine != ALL && is_held) return node->combine == ANY;
    }
    return node->combine != ANY;
}

static bool is_condition_met(context *seen, const condition *where) {
    uint64_t found = 0;
    return test_images(seen, comparison_paths, comparisons, comparison_count, &found) &&
           test_envelope(seen, comparisons, comparison_count, &found) && holds(where, found);
}

#endif
