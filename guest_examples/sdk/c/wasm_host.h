// wasm_host.h: everything a transform in C needs, in one header and with no library behind it. See README.md.
//
// A guest includes this file once and defines two functions:
//
//     static void wh_on_config(wh_entry config); // checks and keeps it; `wh_refuse` says what is wrong
//     static wh_answer wh_on_event(const wh_event *event);
//
// or, with WH_TAKES_BYTES defined before, `static wh_answer wh_on_bytes(wh_bytes bytes)` instead of the second.
//
// Everything the host hands in is hostile: each read below is checked by hand against the end of its bytes, because
// there is no sanitizer in the module. Pointers into an event stay valid until `wh_on_event` returns.
#ifndef WASM_HOST_H
#define WASM_HOST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// ---------------------------------------------------------------------------------------------------------- host

#define WH_IMPORT(name) __attribute__((import_module("env"), import_name(name)))
#define WH_EXPORT(name) __attribute__((export_name(name), used))
#define WH_COLD __attribute__((cold, noinline)) // rarely run: small is better than fast

WH_IMPORT("log") extern void wh_import_log(int32_t level, const uint8_t *text, uint32_t text_bytes);
WH_IMPORT("record_metric") extern void wh_import_record_metric(const char *name, int64_t value);
WH_IMPORT("get_metric") extern int64_t wh_import_get_metric(const char *name);

typedef enum { WH_TRACE = 0, WH_DEBUG = 1, WH_INFO = 2, WH_WARN = 3, WH_ERROR = 4 } wh_level;

// A run of bytes that somebody else owns.
typedef struct {
    const uint8_t *at;
    uint32_t size;
} wh_bytes;

// Bytes of a string literal, without its NUL.
#define WH_TEXT(literal) ((wh_bytes){(const uint8_t *)("" literal), sizeof(literal) - 1})

static inline void wh_log(wh_level level, wh_bytes text) { wh_import_log(level, text.at, text.size); }

// Adds to a counter. `name` is NUL-terminated and at most 128 bytes long.
static inline void wh_count(const char *name, int64_t value) { wh_import_record_metric(name, value); }

// What this event has recorded under `name` so far.
static inline int64_t wh_counted(const char *name) { return wh_import_get_metric(name); }

// --------------------------------------------------------------------------------------------------------- bytes

static inline void wh_copy(uint8_t *to, const uint8_t *from, uint32_t size) {
    // A call of memory.copy costs more than a few moves, and most runs are short.
    if (size >= 64) {
        __builtin_memcpy(to, from, size);
        return;
    }
    while (size >= 8) {
        uint64_t word;
        __builtin_memcpy(&word, from, 8);
        __builtin_memcpy(to, &word, 8);
        to += 8;
        from += 8;
        size -= 8;
    }
    while (size--) *to++ = *from++;
}

static inline bool wh_same(wh_bytes a, wh_bytes b) {
    if (a.size != b.size) return false;
    for (uint32_t i = 0; i < a.size; i++) {
        if (a.at[i] != b.at[i]) return false;
    }
    return true;
}

// Order of two byte strings, which for UTF-8 is also the order of their characters.
static inline int wh_order(wh_bytes a, wh_bytes b) {
    uint32_t shorter = a.size < b.size ? a.size : b.size;
    for (uint32_t i = 0; i < shorter; i++) {
        if (a.at[i] != b.at[i]) return a.at[i] < b.at[i] ? -1 : 1;
    }
    return a.size == b.size ? 0 : (a.size < b.size ? -1 : 1);
}

// The bytes [from, to) of `of`, cut off at its end.
static inline wh_bytes wh_slice(wh_bytes of, uint32_t from, uint32_t to) {
    if (to > of.size) to = of.size;
    if (from > to) from = to;
    return (wh_bytes){of.at + from, to - from};
}

static inline bool wh_starts_with(wh_bytes text, wh_bytes start) {
    return text.size >= start.size && wh_same(wh_slice(text, 0, start.size), start);
}

static inline bool wh_ends_with(wh_bytes text, wh_bytes end) {
    return text.size >= end.size && wh_same(wh_slice(text, text.size - end.size, text.size), end);
}

static bool wh_contains(wh_bytes text, wh_bytes part) {
    for (uint32_t at = 0; at + part.size <= text.size; at++) {
        if (wh_same(wh_slice(text, at, at + part.size), part)) return true;
    }
    return false;
}

// Whether a text is the pattern, or begins with what stands before the star at the pattern's end.
static bool wh_matches(wh_bytes pattern, wh_bytes text) {
    if (pattern.size && pattern.at[pattern.size - 1] == '*') {
        return wh_starts_with(text, wh_slice(pattern, 0, pattern.size - 1));
    }
    return wh_same(text, pattern);
}

// -------------------------------------------------------------------------------------------------------- memory
//
// A first-fit allocator over an address-ordered free list that joins neighbours, so what is freed is used again,
// whatever its size was: a guest that serves a million events holds no more memory than its largest one needed.

typedef struct wh_block {
    uint32_t size;         // of the whole block, header included; a multiple of 16
    struct wh_block *next; // in the free list; unused while the block is handed out
    uint64_t padding;      // keeps what is handed out aligned to 16
} wh_block;

extern uint8_t __heap_base;
static wh_block *wh_free_list;
static uint32_t wh_heap_end; // 0 until the first allocation

// Writes `number` in decimal and returns how many digits that took; 20 always suffice.
static uint32_t wh_decimal(uint8_t *to, uint64_t number) {
    uint32_t count = 1;
    for (uint64_t rest = number; rest >= 10; rest /= 10) count++;
    for (uint32_t i = count; i--; number /= 10) to[i] = (uint8_t)('0' + number % 10);
    return count;
}

WH_COLD _Noreturn static void wh_out_of_memory(uint32_t size) {
    // A trap, not a failed event: the host runs the event again on a fresh instance, which may have the room.
    static uint8_t text[64] = "out of memory, bytes asked for: ";
    uint32_t used = sizeof("out of memory, bytes asked for: ") - 1;
    used += wh_decimal(text + used, size);
    wh_log(WH_ERROR, (wh_bytes){text, used});
    __builtin_trap();
}

static void wh_give_back(wh_block *block) {
    wh_block *before = NULL;
    wh_block *after = wh_free_list;
    while (after && after < block) {
        before = after;
        after = after->next;
    }
    block->next = after;
    if (after && (uint8_t *)block + block->size == (uint8_t *)after) {
        block->size += after->size;
        block->next = after->next;
    }
    if (before && (uint8_t *)before + before->size == (uint8_t *)block) {
        before->size += block->size;
        before->next = block->next;
    } else if (before) {
        before->next = block;
    } else {
        wh_free_list = block;
    }
}

// Grows the heap by at least `size` bytes and puts them on the free list.
WH_COLD static void wh_grow(uint32_t size, uint32_t asked) {
    if (!wh_heap_end) wh_heap_end = ((uint32_t)(uintptr_t)&__heap_base + 15) & ~15u;
    uint32_t limit = (uint32_t)__builtin_wasm_memory_size(0) << 16;
    if (size > limit - wh_heap_end) {
        uint32_t pages = (size - (limit - wh_heap_end) + 0xFFFF) >> 16;
        if (__builtin_wasm_memory_grow(0, pages) == (size_t)-1) wh_out_of_memory(asked);
        limit += pages << 16;
    }
    wh_block *block = (wh_block *)(uintptr_t)wh_heap_end;
    block->size = limit - wh_heap_end;
    wh_heap_end = limit;
    wh_give_back(block);
}

// Memory of at least `size` bytes, aligned to 16, never NULL: when there is none, says so in the log and traps.
static void *wh_alloc(uint32_t size) {
    // The answer's pointer has 30 bits, so nothing larger could be handed over.
    if (size > (1u << 30)) wh_out_of_memory(size);
    uint32_t need = (size + (uint32_t)sizeof(wh_block) + 15) & ~15u;
    for (;;) {
        wh_block *before = NULL;
        for (wh_block *block = wh_free_list; block; before = block, block = block->next) {
            if (block->size < need) continue;
            wh_block *rest = block->next;
            if (block->size - need >= 2 * sizeof(wh_block)) {
                wh_block *split = (wh_block *)((uint8_t *)block + need);
                split->size = block->size - need;
                split->next = rest;
                rest = split;
                block->size = need;
            }
            if (before) before->next = rest;
            else wh_free_list = rest;
            return block + 1;
        }
        wh_grow(need, size);
    }
}

static void wh_free(void *memory) {
    if (memory) wh_give_back((wh_block *)memory - 1);
}

// A byte string that grows. Zero-initialised is empty.
typedef struct {
    uint8_t *at;
    uint32_t size;
    uint32_t room;
} wh_buffer;

WH_COLD static void wh_enlarge(wh_buffer *buffer, uint32_t more) {
    if (more > (1u << 30) - buffer->size) wh_out_of_memory(more);
    uint32_t room = buffer->size + more;
    if (room < buffer->room + buffer->room / 2) room = buffer->room + buffer->room / 2;
    if (room < 64) room = 64;
    uint8_t *at = wh_alloc(room);
    wh_copy(at, buffer->at, buffer->size);
    wh_free(buffer->at);
    buffer->at = at;
    buffer->room = room;
}

static inline void wh_reserve(wh_buffer *buffer, uint32_t more) {
    if (more > buffer->room - buffer->size) wh_enlarge(buffer, more);
}

static inline void wh_put(wh_buffer *buffer, wh_bytes bytes) {
    if (!bytes.size) return;
    wh_reserve(buffer, bytes.size);
    wh_copy(buffer->at + buffer->size, bytes.at, bytes.size);
    buffer->size += bytes.size;
}

static inline void wh_put_byte(wh_buffer *buffer, uint8_t byte) {
    wh_reserve(buffer, 1);
    buffer->at[buffer->size++] = byte;
}

static void wh_put_decimal(wh_buffer *buffer, uint64_t number) {
    wh_reserve(buffer, 20);
    buffer->size += wh_decimal(buffer->at + buffer->size, number);
}

static inline wh_bytes wh_whole(const wh_buffer *buffer) { return (wh_bytes){buffer->at, buffer->size}; }

static inline void wh_drop_buffer(wh_buffer *buffer) {
    wh_free(buffer->at);
    *buffer = (wh_buffer){0};
}
// How many bytes the UTF-8 character at `at` takes, or 0 when there is none.
static uint32_t wh_utf8_size(wh_bytes text, uint32_t at) {
    if (at >= text.size) return 0;
    uint8_t first = text.at[at];
    if (first < 0x80) return 1;
    uint32_t size = first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
    if (first < 0xc2 || first > 0xf4 || size > text.size - at) return 0;
    uint8_t second = text.at[at + 1];
    // Overlong forms, surrogates and what lies beyond U+10FFFF are told by the second byte.
    if (first == 0xe0 && second < 0xa0) return 0;
    if (first == 0xed && second > 0x9f) return 0;
    if (first == 0xf0 && second < 0x90) return 0;
    if (first == 0xf4 && second > 0x8f) return 0;
    for (uint32_t i = 1; i < size; i++) {
        if ((text.at[at + i] & 0xc0) != 0x80) return 0;
    }
    return size;
}

static bool wh_is_utf8(wh_bytes text) {
    for (uint32_t at = 0; at < text.size;) {
        uint32_t size = wh_utf8_size(text, at);
        if (!size) return false;
        at += size;
    }
    return true;
}


// ------------------------------------------------------------------------------------------- SHA-256, HMAC-SHA256

typedef struct {
    uint32_t state[8];
    uint8_t block[64];
    uint64_t size; // bytes taken in so far
} wh_sha256;

static const uint32_t WH_SHA256_K[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

static inline uint32_t wh_rotate(uint32_t x, int by) { return x >> by | x << (32 - by); }

static void wh_sha256_block(uint32_t state[8], const uint8_t *block) {
    uint32_t w[64];
    for (int i = 0; i < 16; i++) {
        uint32_t word;
        __builtin_memcpy(&word, block + 4 * i, 4);
        w[i] = __builtin_bswap32(word);
    }
    for (int i = 16; i < 64; i++) {
        uint32_t s0 = wh_rotate(w[i - 15], 7) ^ wh_rotate(w[i - 15], 18) ^ w[i - 15] >> 3;
        uint32_t s1 = wh_rotate(w[i - 2], 17) ^ wh_rotate(w[i - 2], 19) ^ w[i - 2] >> 10;
        w[i] = w[i - 16] + s0 + w[i - 7] + s1;
    }
    uint32_t a = state[0], b = state[1], c = state[2], d = state[3];
    uint32_t e = state[4], f = state[5], g = state[6], h = state[7];
#pragma clang loop unroll_count(8)
    for (int i = 0; i < 64; i++) {
        uint32_t s1 = wh_rotate(e, 6) ^ wh_rotate(e, 11) ^ wh_rotate(e, 25);
        uint32_t t1 = h + s1 + ((e & f) ^ (~e & g)) + WH_SHA256_K[i] + w[i];
        uint32_t s0 = wh_rotate(a, 2) ^ wh_rotate(a, 13) ^ wh_rotate(a, 22);
        uint32_t t2 = s0 + ((a & b) ^ (a & c) ^ (b & c));
        h = g;
        g = f;
        f = e;
        e = d + t1;
        d = c;
        c = b;
        b = a;
        a = t1 + t2;
    }
    state[0] += a;
    state[1] += b;
    state[2] += c;
    state[3] += d;
    state[4] += e;
    state[5] += f;
    state[6] += g;
    state[7] += h;
}

static wh_sha256 wh_sha256_start(void) {
    return (wh_sha256){.state = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab,
                                 0x5be0cd19}};
}

static void wh_sha256_add(wh_sha256 *hash, wh_bytes bytes) {
    uint32_t held = (uint32_t)(hash->size % 64);
    hash->size += bytes.size;
    if (held) {
        uint32_t part = 64 - held < bytes.size ? 64 - held : bytes.size;
        wh_copy(hash->block + held, bytes.at, part);
        bytes.at += part;
        bytes.size -= part;
        if (held + part < 64) return;
        wh_sha256_block(hash->state, hash->block);
    }
    for (; bytes.size >= 64; bytes.at += 64, bytes.size -= 64) wh_sha256_block(hash->state, bytes.at);
    wh_copy(hash->block, bytes.at, bytes.size);
}

static void wh_sha256_end(wh_sha256 *hash, uint8_t digest[32]) {
    uint32_t held = (uint32_t)(hash->size % 64);
    uint64_t bits = __builtin_bswap64(hash->size * 8);
    hash->block[held++] = 0x80;
    if (held > 56) {
        __builtin_memset(hash->block + held, 0, 64 - held);
        wh_sha256_block(hash->state, hash->block);
        held = 0;
    }
    __builtin_memset(hash->block + held, 0, 56 - held);
    __builtin_memcpy(hash->block + 56, &bits, 8);
    wh_sha256_block(hash->state, hash->block);
    for (int i = 0; i < 8; i++) {
        uint32_t word = __builtin_bswap32(hash->state[i]);
        __builtin_memcpy(digest + 4 * i, &word, 4);
    }
}

// A key with both of its pads hashed already, which halves the work for a short value.
typedef struct {
    wh_sha256 inner;
    wh_sha256 outer;
} wh_hmac_key;

WH_COLD static wh_hmac_key wh_hmac_prepare(wh_bytes key) {
    uint8_t pad[64] = {0};
    if (key.size > 64) {
        wh_sha256 hash = wh_sha256_start();
        wh_sha256_add(&hash, key);
        wh_sha256_end(&hash, pad);
    } else {
        wh_copy(pad, key.at, key.size);
    }
    wh_hmac_key made = {wh_sha256_start(), wh_sha256_start()};
    for (int i = 0; i < 64; i++) pad[i] ^= 0x36;
    wh_sha256_add(&made.inner, (wh_bytes){pad, 64});
    for (int i = 0; i < 64; i++) pad[i] ^= 0x36 ^ 0x5c;
    wh_sha256_add(&made.outer, (wh_bytes){pad, 64});
    return made;
}

static void wh_hmac(const wh_hmac_key *key, wh_bytes message, uint8_t digest[32]) {
    wh_sha256 hash = key->inner;
    wh_sha256_add(&hash, message);
    wh_sha256_end(&hash, digest);
    hash = key->outer;
    wh_sha256_add(&hash, (wh_bytes){digest, 32});
    wh_sha256_end(&hash, digest);
}

static void wh_put_hex(wh_buffer *buffer, wh_bytes bytes) {
    wh_reserve(buffer, 2 * bytes.size);
    for (uint32_t i = 0; i < bytes.size; i++) {
        buffer->at[buffer->size++] = (uint8_t)"0123456789abcdef"[bytes.at[i] >> 4];
        buffer->at[buffer->size++] = (uint8_t)"0123456789abcdef"[bytes.at[i] & 15];
    }
}

// ---------------------------------------------------------------------------------- configuration, in MessagePack

typedef enum { WH_NIL, WH_BOOL, WH_INT, WH_FLOAT, WH_STR, WH_BIN, WH_ARRAY, WH_MAP, WH_EXT } wh_kind;

typedef struct {
    wh_kind kind;
    bool negative;   // WH_INT: `number` is then two's complement
    uint64_t number; // WH_BOOL, WH_INT, and the bits of a WH_FLOAT as a double
    uint32_t count;  // WH_ARRAY: elements; WH_MAP: pairs
    wh_bytes body;   // WH_STR, WH_BIN: the bytes; WH_ARRAY, WH_MAP: the encoded members
} wh_value;

#define WH_CONFIG_DEPTH 32 // containers inside one another

static bool wh_take(wh_bytes *rest, uint32_t size, wh_bytes *taken) {
    if (size > rest->size) return false;
    *taken = (wh_bytes){rest->at, size};
    rest->at += size;
    rest->size -= size;
    return true;
}

static bool wh_take_number(wh_bytes *rest, uint32_t size, uint64_t *number) {
    wh_bytes taken;
    if (!wh_take(rest, size, &taken)) return false;
    *number = 0;
    for (uint32_t i = 0; i < size; i++) *number = *number << 8 | taken.at[i];
    return true;
}

static bool wh_read_nested(wh_bytes *rest, wh_value *value, uint32_t depth);

WH_COLD static bool wh_read_members(wh_bytes *rest, wh_value *value, wh_kind kind, uint64_t count, uint32_t depth) {
    const uint8_t *start = rest->at;
    uint64_t values = kind == WH_MAP ? 2 * count : count;
    // Each member takes a byte at least, so a count beyond the bytes is wrong before anything is looped over.
    if (depth == 0 || values > rest->size) return false;
    for (uint64_t i = 0; i < values; i++) {
        wh_value member;
        if (!wh_read_nested(rest, &member, depth - 1)) return false;
    }
    *value = (wh_value){.kind = kind, .count = (uint32_t)count, .body = {start, (uint32_t)(rest->at - start)}};
    return true;
}

static bool wh_read_run(wh_bytes *rest, wh_value *value, wh_kind kind, uint64_t size) {
    *value = (wh_value){.kind = kind};
    if (size > rest->size || !wh_take(rest, (uint32_t)size, &value->body)) return false;
    return kind != WH_STR || wh_is_utf8(value->body);
}

static bool wh_read_int(wh_bytes *rest, wh_value *value, uint32_t size, bool is_signed) {
    *value = (wh_value){.kind = WH_INT};
    if (!wh_take_number(rest, size, &value->number)) return false;
    uint32_t unused = 64 - 8 * size;
    if (is_signed) value->number = (uint64_t)((int64_t)(value->number << unused) >> unused);
    value->negative = is_signed && (value->number >> 63);
    return true;
}

static bool wh_read_float(wh_bytes *rest, wh_value *value, uint32_t size) {
    *value = (wh_value){.kind = WH_FLOAT};
    if (!wh_take_number(rest, size, &value->number)) return false;
    if (size == 4) {
        uint32_t bits = (uint32_t)value->number;
        float single;
        __builtin_memcpy(&single, &bits, 4);
        double wide = single;
        __builtin_memcpy(&value->number, &wide, 8);
    }
    return true;
}

WH_COLD static bool wh_read_nested(wh_bytes *rest, wh_value *value, uint32_t depth) {
    wh_bytes head;
    uint64_t size;
    if (!wh_take(rest, 1, &head)) return false;
    uint8_t tag = head.at[0];
    if (tag < 0x80) return *value = (wh_value){.kind = WH_INT, .number = tag}, true;
    if (tag < 0x90) return wh_read_members(rest, value, WH_MAP, tag & 15, depth);
    if (tag < 0xa0) return wh_read_members(rest, value, WH_ARRAY, tag & 15, depth);
    if (tag < 0xc0) return wh_read_run(rest, value, WH_STR, tag & 31);
    if (tag >= 0xe0) {
        *value = (wh_value){.kind = WH_INT, .negative = true, .number = (uint64_t)(int64_t)(int8_t)tag};
        return true;
    }
    switch (tag) {
        case 0xc0: return *value = (wh_value){.kind = WH_NIL}, true;
        case 0xc2:
        case 0xc3: return *value = (wh_value){.kind = WH_BOOL, .number = tag & 1}, true;
        case 0xc4:
        case 0xc5:
        case 0xc6: return wh_take_number(rest, 1u << (tag - 0xc4), &size) && wh_read_run(rest, value, WH_BIN, size);
        case 0xc7:
        case 0xc8:
        case 0xc9: return wh_take_number(rest, 1u << (tag - 0xc7), &size) && wh_read_run(rest, value, WH_EXT, size + 1);
        case 0xca: return wh_read_float(rest, value, 4);
        case 0xcb: return wh_read_float(rest, value, 8);
        case 0xcc:
        case 0xcd:
        case 0xce:
        case 0xcf: return wh_read_int(rest, value, 1u << (tag - 0xcc), false);
        case 0xd0:
        case 0xd1:
        case 0xd2:
        case 0xd3: return wh_read_int(rest, value, 1u << (tag - 0xd0), true);
        case 0xd4:
        case 0xd5:
        case 0xd6:
        case 0xd7:
        case 0xd8: return wh_read_run(rest, value, WH_EXT, (1u << (tag - 0xd4)) + 1);
        case 0xd9:
        case 0xda:
        case 0xdb: return wh_take_number(rest, 1u << (tag - 0xd9), &size) && wh_read_run(rest, value, WH_STR, size);
        case 0xdc:
        case 0xdd:
            return wh_take_number(rest, 2u << (tag - 0xdc), &size) &&
                   wh_read_members(rest, value, WH_ARRAY, size, depth);
        case 0xde:
        case 0xdf:
            return wh_take_number(rest, 2u << (tag - 0xde), &size) &&
                   wh_read_members(rest, value, WH_MAP, size, depth);
        default: return false; // 0xc1 is never used
    }
}

// Reads one value, with all that is nested in it, and moves `rest` behind it.
static bool wh_read_value(wh_bytes *rest, wh_value *value) { return wh_read_nested(rest, value, WH_CONFIG_DEPTH); }

// The value under a text key of a map; of equal keys the last one counts.
WH_COLD static bool wh_lookup(const wh_value *map, wh_bytes key, wh_value *found) {
    bool seen = false;
    wh_bytes rest = map->body;
    for (uint32_t i = 0; map->kind == WH_MAP && i < map->count; i++) {
        wh_value name, value;
        if (!wh_read_value(&rest, &name) || !wh_read_value(&rest, &value)) return false;
        if (name.kind == WH_STR && wh_same(name.body, key)) {
            *found = value;
            seen = true;
        }
    }
    return seen;
}

// ---------------------------------------------------------------------------------------------- JSON, read in place
//
// A pull scanner for strict JSON (RFC 8259, UTF-8): it checks the whole document, allocates nothing, and gives spans of
// the text. The rules and the places it reports trouble at are those of sdk/SEMANTICS.md.

#define WH_JSON_DEPTH 128 // containers that may be open at once

typedef enum {
    WH_JSON_OBJECT,
    WH_JSON_ARRAY,
    WH_JSON_STRING,
    WH_JSON_NUMBER,
    WH_JSON_BOOLEAN,
    WH_JSON_NULL,
} wh_json_kind;

typedef enum {
    WH_JSON_VALUE, // a scalar: `value` is its span
    WH_JSON_OPEN,  // a container begins: `value.end` is not known yet
    WH_JSON_CLOSE, // a container ends: `value.end` is behind it
    WH_JSON_END,   // the document was valid
    WH_JSON_BROKEN // `trouble_at` is the byte, or WH_JSON_TOO_DEEP
} wh_json_step;

#define WH_JSON_TOO_DEEP UINT32_MAX

typedef struct {
    wh_json_kind kind;
    bool is_escaped; // a string with a backslash in it
    uint32_t start;
    uint32_t end;
} wh_json_value;

typedef struct {
    wh_bytes text;
    uint32_t at;
    uint32_t trouble_at;
    uint32_t depth;                           // of the containers open now
    uint32_t opened_at[WH_JSON_DEPTH];        // where each of them begins
    wh_json_value key;                        // of the value just given, quotes included; empty inside an array
    wh_json_value value;                      // the value just given
    bool is_started;
    bool is_first; // the container just opened has given no member yet
} wh_json;

static inline void wh_json_start(wh_json *json, wh_bytes text) {
    json->text = text;
    json->at = 0;
    json->depth = 0;
    json->is_started = json->is_first = false;
}

static inline bool wh_json_is_space(uint8_t byte) {
    return byte == ' ' || byte == '\t' || byte == '\n' || byte == '\r';
}

// The next byte that is not white space, or 0 at the end; a NUL in the text is no JSON either.
static inline uint8_t wh_json_peek(wh_json *json) {
    while (json->at < json->text.size) {
        uint8_t byte = json->text.at[json->at];
        if (byte > ' ' || !wh_json_is_space(byte)) return byte;
        json->at++;
    }
    return 0;
}

static inline wh_json_step wh_json_broken(wh_json *json, uint32_t at) {
    json->trouble_at = at;
    return WH_JSON_BROKEN;
}

// The number written by 4 hexadecimal digits at `at`, or UINT32_MAX.
static uint32_t wh_hex4(wh_bytes text, uint32_t at) {
    if (at > text.size || text.size - at < 4) return UINT32_MAX;
    uint32_t number = 0;
    for (uint32_t i = 0; i < 4; i++) {
        uint8_t byte = text.at[at + i];
        uint8_t lower = byte | 0x20;
        uint32_t digit = byte >= '0' && byte <= '9' ? byte - '0' : lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : 16;
        if (digit > 15) return UINT32_MAX;
        number = number << 4 | digit;
    }
    return number;
}

// Reads the escape whose backslash is at `at`: its length, or 0 when it is none. A pair of surrogates is one escape.
static uint32_t wh_json_escape(wh_bytes text, uint32_t at, uint32_t *character) {
    if (text.size - at < 2) return 0;
    switch (text.at[at + 1]) {
        case '"': return *character = '"', 2;
        case '\\': return *character = '\\', 2;
        case '/': return *character = '/', 2;
        case 'b': return *character = '\b', 2;
        case 'f': return *character = '\f', 2;
        case 'n': return *character = '\n', 2;
        case 'r': return *character = '\r', 2;
        case 't': return *character = '\t', 2;
        case 'u': break;
        default: return 0;
    }
    uint32_t unit = wh_hex4(text, at + 2);
    if (unit == UINT32_MAX || (unit >= 0xdc00 && unit <= 0xdfff)) return 0;
    if (unit < 0xd800 || unit > 0xdbff) return *character = unit, 6;
    if (text.size - at < 12 || text.at[at + 6] != '\\' || text.at[at + 7] != 'u') return 0;
    uint32_t low = wh_hex4(text, at + 8);
    if (low < 0xdc00 || low > 0xdfff) return 0;
    *character = 0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00);
    return 12;
}

typedef int8_t wh_lanes __attribute__((vector_size(16), aligned(1)));

// The first byte at or behind `at` that is not plain ASCII text of a string.
static inline uint32_t wh_json_plain_end(wh_bytes text, uint32_t at) {
    while (text.size - at >= 16) {
        wh_lanes lanes = *(const wh_lanes *)(text.at + at);
        // As a signed number, everything outside ASCII is below the blank as well.
        wh_lanes stops = (lanes == '"') | (lanes == '\\') | (lanes < ' ');
        uint32_t mask = (uint32_t)__builtin_wasm_bitmask_i8x16(stops);
        if (mask) return at + (uint32_t)__builtin_ctz(mask);
        at += 16;
    }
    while (at < text.size) {
        uint8_t byte = text.at[at];
        if (byte == '"' || byte == '\\' || byte < ' ' || byte >= 0x80) break;
        at++;
    }
    return at;
}

// Scans the string at `at` and moves behind it; false, without moving, when there is no proper string.
static bool wh_json_string(wh_json *json, wh_json_value *token) {
    wh_bytes text = json->text;
    uint32_t at = json->at;
    *token = (wh_json_value){.kind = WH_JSON_STRING, .start = at};
    if (at >= text.size || text.at[at] != '"') return false;
    for (at++;;) {
        at = wh_json_plain_end(text, at);
        if (at >= text.size || text.at[at] < ' ') return false;
        if (text.at[at] == '"') break;
        uint32_t character, size;
        if (text.at[at] == '\\') {
            token->is_escaped = true;
            size = wh_json_escape(text, at, &character);
        } else {
            size = wh_utf8_size(text, at);
        }
        if (!size) return false;
        at += size;
    }
    json->at = token->end = at + 1;
    return true;
}

static inline uint32_t wh_json_digits(wh_bytes text, uint32_t at) {
    while (at < text.size && text.at[at] >= '0' && text.at[at] <= '9') at++;
    return at;
}

static bool wh_json_number(wh_json *json) {
    wh_bytes text = json->text;
    uint32_t at = json->at;
    if (text.at[at] == '-') at++;
    uint32_t digits_end = wh_json_digits(text, at);
    if (digits_end == at) return false;
    at = text.at[at] == '0' ? at + 1 : digits_end;
    if (at < text.size && text.at[at] == '.') {
        digits_end = wh_json_digits(text, at + 1);
        if (digits_end == at + 1) return false;
        at = digits_end;
    }
    if (at < text.size && (text.at[at] | 0x20) == 'e') {
        at++;
        if (at < text.size && (text.at[at] == '+' || text.at[at] == '-')) at++;
        digits_end = wh_json_digits(text, at);
        if (digits_end == at) return false;
        at = digits_end;
    }
    json->value = (wh_json_value){.kind = WH_JSON_NUMBER, .start = json->at, .end = at};
    json->at = at;
    return true;
}

static bool wh_json_literal(wh_json *json, wh_bytes literal, wh_json_kind kind) {
    if (!wh_same(wh_slice(json->text, json->at, json->at + literal.size), literal)) return false;
    json->value = (wh_json_value){.kind = kind, .start = json->at, .end = json->at + literal.size};
    json->at += literal.size;
    return true;
}

static wh_json_step wh_json_scan_value(wh_json *json) {
    uint8_t first = wh_json_peek(json);
    uint32_t start = json->at;
    bool is_good;
    switch (first) {
        case '"': is_good = wh_json_string(json, &json->value); break;
        case 't': is_good = wh_json_literal(json, WH_TEXT("true"), WH_JSON_BOOLEAN); break;
        case 'f': is_good = wh_json_literal(json, WH_TEXT("false"), WH_JSON_BOOLEAN); break;
        case 'n': is_good = wh_json_literal(json, WH_TEXT("null"), WH_JSON_NULL); break;
        case '{':
        case '[':
            if (json->depth == WH_JSON_DEPTH) return wh_json_broken(json, WH_JSON_TOO_DEEP);
            json->value = (wh_json_value){.kind = first == '{' ? WH_JSON_OBJECT : WH_JSON_ARRAY, .start = start};
            json->opened_at[json->depth++] = start;
            json->at++;
            json->is_first = true;
            return WH_JSON_OPEN;
        default: is_good = (first == '-' || (first >= '0' && first <= '9')) && wh_json_number(json);
    }
    return is_good ? WH_JSON_VALUE : wh_json_broken(json, start);
}

static wh_json_step wh_json_close(wh_json *json) {
    uint32_t start = json->opened_at[--json->depth];
    json->at++;
    wh_json_kind kind = json->text.at[start] == '{' ? WH_JSON_OBJECT : WH_JSON_ARRAY;
    json->value = (wh_json_value){.kind = kind, .start = start, .end = json->at};
    return WH_JSON_CLOSE;
}

// Goes one step through the document.
static wh_json_step wh_json_next(wh_json *json) {
    if (!json->is_started) {
        json->is_started = true;
        json->key = (wh_json_value){0};
        return wh_json_scan_value(json);
    }
    uint8_t next = wh_json_peek(json);
    if (json->depth == 0) return json->at == json->text.size ? WH_JSON_END : wh_json_broken(json, json->at);
    bool is_object = json->text.at[json->opened_at[json->depth - 1]] == '{';
    bool is_first = json->is_first;
    json->is_first = false;
    if (next == (is_object ? '}' : ']')) return wh_json_close(json);
    if (!is_first) {
        if (next != ',') return wh_json_broken(json, json->at);
        json->at++;
        wh_json_peek(json);
    }
    json->key = (wh_json_value){0};
    if (is_object) {
        if (!wh_json_string(json, &json->key)) return wh_json_broken(json, json->at);
        if (wh_json_peek(json) != ':') return wh_json_broken(json, json->at);
        json->at++;
    }
    return wh_json_scan_value(json);
}

// ------------------------------------------------------------------------------------------------- JSON, by path

// The text of a scanned string without its quotes, as it stands. Decoded only if it has no escape.
static inline wh_bytes wh_json_raw(wh_bytes text, wh_json_value token) {
    return wh_slice(text, token.start + 1, token.end - 1);
}

WH_COLD static void wh_put_character(wh_buffer *buffer, uint32_t character) {
    if (character < 0x80) {
        wh_put_byte(buffer, (uint8_t)character);
    } else if (character < 0x800) {
        wh_put_byte(buffer, (uint8_t)(0xc0 | character >> 6));
        wh_put_byte(buffer, (uint8_t)(0x80 | (character & 0x3f)));
    } else if (character < 0x10000) {
        wh_put_byte(buffer, (uint8_t)(0xe0 | character >> 12));
        wh_put_byte(buffer, (uint8_t)(0x80 | (character >> 6 & 0x3f)));
        wh_put_byte(buffer, (uint8_t)(0x80 | (character & 0x3f)));
    } else {
        wh_put_byte(buffer, (uint8_t)(0xf0 | character >> 18));
        wh_put_byte(buffer, (uint8_t)(0x80 | (character >> 12 & 0x3f)));
        wh_put_byte(buffer, (uint8_t)(0x80 | (character >> 6 & 0x3f)));
        wh_put_byte(buffer, (uint8_t)(0x80 | (character & 0x3f)));
    }
}

// The decoded text of a string, the JSON text of anything else. `scratch` is used, and overwritten, for escapes only.
static wh_bytes wh_json_text(wh_bytes text, wh_json_value token, wh_buffer *scratch) {
    if (token.kind != WH_JSON_STRING) return wh_slice(text, token.start, token.end);
    wh_bytes raw = wh_json_raw(text, token);
    if (!token.is_escaped) return raw;
    scratch->size = 0;
    for (uint32_t at = 0; at < raw.size;) {
        uint32_t character, size;
        if (raw.at[at] == '\\' && (size = wh_json_escape(raw, at, &character))) {
            wh_put_character(scratch, character);
            at += size;
        } else {
            wh_put_byte(scratch, raw.at[at++]);
        }
    }
    return wh_whole(scratch);
}

// Writes text as a JSON string: only `"`, `\` and control characters are escaped.
static void wh_put_json_string(wh_buffer *buffer, wh_bytes text) {
    wh_reserve(buffer, text.size + 2);
    wh_put_byte(buffer, '"');
    for (uint32_t i = 0; i < text.size; i++) {
        uint8_t byte = text.at[i];
        if (byte >= ' ' && byte != '"' && byte != '\\') {
            wh_put_byte(buffer, byte);
            continue;
        }
        wh_put_byte(buffer, '\\');
        switch (byte) {
            case '\b': wh_put_byte(buffer, 'b'); break;
            case '\f': wh_put_byte(buffer, 'f'); break;
            case '\n': wh_put_byte(buffer, 'n'); break;
            case '\r': wh_put_byte(buffer, 'r'); break;
            case '\t': wh_put_byte(buffer, 't'); break;
            case '"':
            case '\\': wh_put_byte(buffer, byte); break;
            default:
                wh_put(buffer, WH_TEXT("u00"));
                wh_put_hex(buffer, (wh_bytes){&byte, 1});
        }
    }
    wh_put_byte(buffer, '"');
}

// One step of a path: a key, or every child.
typedef struct {
    wh_bytes key;
    bool is_any;
} wh_segment;

typedef struct {
    wh_segment *segments;
    uint32_t count;
} wh_path;

#define WH_MAX_PATHS 64

// A walk through a document that stops where one of up to 64 paths ends. Bit i stands for path i.
typedef struct {
    wh_json json;
    const wh_path *paths;
    uint64_t reached[WH_JSON_DEPTH + 1]; // [d]: paths whose first d segments led to the container open at depth d
    uint64_t matched;                    // paths that end at the value just given; 0 for a leaf that no path names
    bool stops_at_leaves;                // give every scalar, named or not
    wh_buffer scratch;
} wh_walk;

static void wh_walk_start(wh_walk *walk, wh_bytes text, const wh_path *paths, uint64_t active) {
    wh_json_start(&walk->json, text);
    walk->paths = paths;
    walk->reached[0] = active;
    walk->stops_at_leaves = false;
    walk->scratch = (wh_buffer){0};
}

static inline void wh_walk_end(wh_walk *walk) { wh_drop_buffer(&walk->scratch); }

// Finds which paths lead to the value just scanned, and which of them end there. `level` is the value's depth.
static inline uint64_t wh_walk_match(wh_walk *walk, uint32_t level) {
    walk->matched = 0;
    uint64_t reached = 0;
    uint64_t open = walk->reached[level - 1];
    if (!open) return 0;
    wh_json *json = &walk->json;
    bool has_key = json->key.end != 0;
    wh_bytes key = has_key ? wh_json_text(json->text, json->key, &walk->scratch) : (wh_bytes){0};
    for (; open; open &= open - 1) {
        uint32_t index = (uint32_t)__builtin_ctzll(open);
        const wh_path *path = &walk->paths[index];
        const wh_segment *segment = &path->segments[level - 1];
        if (!segment->is_any && !(has_key && wh_same(segment->key, key))) continue;
        if (path->count == level) walk->matched |= 1ull << index;
        else reached |= 1ull << index;
    }
    return reached;
}

// Goes on to the next value that a path names (or to any scalar, if asked). WH_JSON_OPEN: a named container, which the
// walk enters unless `wh_walk_skip` is called. WH_JSON_CLOSE is never given.
static wh_json_step wh_walk_next(wh_walk *walk) {
    wh_json *json = &walk->json;
    for (;;) {
        wh_json_step step = wh_json_next(json);
        if (step >= WH_JSON_END) return step;
        if (step == WH_JSON_CLOSE) continue;
        uint32_t level = step == WH_JSON_OPEN ? json->depth - 1 : json->depth;
        uint64_t reached = walk->reached[0];
        walk->matched = 0;
        if (level > 0) reached = wh_walk_match(walk, level);
        if (step == WH_JSON_OPEN) walk->reached[level] = reached;
        if (walk->matched || (walk->stops_at_leaves && step == WH_JSON_VALUE)) return step;
    }
}

// Passes over the container just opened, so that `json.value.end` is known. False when it is broken inside.
static bool wh_walk_skip(wh_walk *walk) {
    wh_json *json = &walk->json;
    for (uint32_t outside = json->depth - 1; json->depth != outside;) {
        if (wh_json_next(json) == WH_JSON_BROKEN) return false;
    }
    return true;
}

// A JSON number taken apart: 0.DIGITS times ten to the power of `magnitude`, DIGITS being what stands in `digits`
// without its point. Zero has no digits.
typedef struct {
    bool is_negative;
    int64_t magnitude;
    wh_bytes digits;
} wh_decimal_parts;

#define WH_MAX_EXPONENT 1000000000000000000 // larger ones count as this, so that every language can hold them

static int64_t wh_exponent(wh_bytes text) {
    bool is_negative = text.size && text.at[0] == '-';
    uint32_t at = text.size && (text.at[0] == '-' || text.at[0] == '+') ? 1 : 0;
    while (at < text.size && text.at[at] == '0') at++;
    int64_t number = text.size - at > 18 ? WH_MAX_EXPONENT : 0;
    for (; number != WH_MAX_EXPONENT && at < text.size; at++) number = 10 * number + (text.at[at] - '0');
    return is_negative ? -number : number;
}

// Takes apart what the scanner has found to be a number.
static wh_decimal_parts wh_take_apart(wh_bytes number) {
    wh_decimal_parts parts = {.is_negative = number.size && number.at[0] == '-'};
    uint32_t first = parts.is_negative, end = first, point = UINT32_MAX;
    for (; end < number.size && (number.at[end] | 0x20) != 'e'; end++) {
        if (number.at[end] == '.') point = end;
    }
    if (end < number.size) parts.magnitude = wh_exponent(wh_slice(number, end + 1, number.size));
    parts.magnitude += (point == UINT32_MAX ? end : point) - first;
    for (; first < end && (number.at[first] == '0' || first == point); first++) parts.magnitude -= first != point;
    while (end > first && (number.at[end - 1] == '0' || end - 1 == point)) end--;
    parts.digits = wh_slice(number, first, end);
    return parts;
}

static int wh_compare_digits(wh_bytes a, wh_bytes b) {
    uint32_t i = 0, j = 0;
    for (;; i++, j++) {
        if (i < a.size && a.at[i] == '.') i++;
        if (j < b.size && b.at[j] == '.') j++;
        if (i >= a.size || j >= b.size) return (i < a.size) - (j < b.size);
        if (a.at[i] != b.at[j]) return a.at[i] < b.at[j] ? -1 : 1;
    }
}

// Order of two JSON numbers by their exact value: -1, 0 or 1.
static int wh_compare_decimals(wh_bytes left, wh_bytes right) {
    wh_decimal_parts a = wh_take_apart(left), b = wh_take_apart(right);
    int a_sign = !a.digits.size ? 0 : a.is_negative ? -1 : 1;
    int b_sign = !b.digits.size ? 0 : b.is_negative ? -1 : 1;
    if (a_sign != b_sign || !a_sign) return (a_sign > b_sign) - (a_sign < b_sign);
    if (a.magnitude != b.magnitude) return a.magnitude < b.magnitude ? -a_sign : a_sign;
    return a_sign * wh_compare_digits(a.digits, b.digits);
}

// Whether a whole text is a JSON number.
static bool wh_is_number(wh_bytes text) {
    wh_json json;
    wh_json_start(&json, text);
    if (!text.size || !(text.at[0] == '-' || (text.at[0] >= '0' && text.at[0] <= '9'))) return false;
    return wh_json_number(&json) && json.at == text.size;
}

// Checks a whole document; false when it is not JSON, and then `trouble_at` says where.
static bool wh_json_check(wh_bytes text, uint32_t *trouble_at) {
    wh_json json;
    wh_json_step step;
    wh_json_start(&json, text);
    do step = wh_json_next(&json);
    while (step < WH_JSON_END);
    *trouble_at = json.trouble_at;
    return step == WH_JSON_END;
}

// A copy of a document in which some values are different.
typedef struct {
    wh_buffer out;
    wh_bytes text;
    uint32_t copied; // up to here the text is in `out`, or replaced
} wh_edit;

// Writes what stands before a value and passes over the value: what is put to `edit->out` next takes its place.
static void wh_replace(wh_edit *edit, wh_json_value value) {
    if (!edit->out.at) wh_reserve(&edit->out, edit->text.size + 64);
    wh_put(&edit->out, wh_slice(edit->text, edit->copied, value.start));
    edit->copied = value.end;
}

// The edited document; the text itself when nothing was replaced.
static wh_bytes wh_edited(wh_edit *edit) {
    if (!edit->out.at) return edit->text;
    wh_put(&edit->out, wh_slice(edit->text, edit->copied, edit->text.size));
    edit->copied = edit->text.size;
    return wh_whole(&edit->out);
}

// ------------------------------------------------------------------------------------------------- protobuf fields

typedef struct {
    uint32_t number;
    uint32_t wire;   // 0 varint, 1 eight bytes, 2 length-delimited, 5 four bytes
    uint64_t varint; // wire 0
    wh_bytes body;   // the content, otherwise
    wh_bytes whole;  // the field as it stands, tag included
} wh_field;

static bool wh_read_long_varint(wh_bytes *rest, uint32_t max_bytes, uint64_t *number) {
    *number = 0;
    for (uint32_t i = 0; i < max_bytes && i < rest->size; i++) {
        *number |= (uint64_t)(rest->at[i] & 0x7f) << (7 * i);
        if (rest->at[i] < 0x80) {
            *rest = (wh_bytes){rest->at + i + 1, rest->size - i - 1};
            return true;
        }
    }
    return false;
}

// A varint of at most `max_bytes`; false when it does not end in time.
static inline bool wh_read_varint(wh_bytes *rest, uint32_t max_bytes, uint64_t *number) {
    if (!rest->size || rest->at[0] >= 0x80) return wh_read_long_varint(rest, max_bytes, number);
    *number = rest->at[0];
    *rest = (wh_bytes){rest->at + 1, rest->size - 1};
    return true;
}

// Reads one field and moves `rest` behind it. False at the end, where `rest` is empty, and at bytes that are no field.
static inline bool wh_next_field(wh_bytes *rest, wh_field *field) {
    wh_bytes behind = *rest;
    uint64_t tag, size = 0;
    if (!wh_read_varint(&behind, 5, &tag) || tag < 8 || tag > UINT32_MAX) return false;
    switch (tag & 7) {
        case 0:
            if (!wh_read_varint(&behind, 10, &field->varint)) return false;
            break;
        case 1: size = 8; break;
        case 2:
            if (!wh_read_varint(&behind, 10, &size)) return false;
            break;
        case 5: size = 4; break;
        default: return false;
    }
    if (size > behind.size || !wh_take(&behind, (uint32_t)size, &field->body)) return false;
    field->number = (uint32_t)tag >> 3;
    field->wire = tag & 7;
    field->whole = (wh_bytes){rest->at, (uint32_t)(behind.at - rest->at)};
    *rest = behind;
    return true;
}

static void wh_put_varint(wh_buffer *buffer, uint64_t number) {
    wh_reserve(buffer, 10);
    for (; number >= 0x80; number >>= 7) buffer->at[buffer->size++] = (uint8_t)(number | 0x80);
    buffer->at[buffer->size++] = (uint8_t)number;
}

static void wh_put_delimited(wh_buffer *buffer, uint32_t number, wh_bytes body) {
    wh_put_varint(buffer, (uint64_t)number << 3 | 2);
    wh_put_varint(buffer, body.size);
    wh_put(buffer, body);
}

static void wh_put_number(wh_buffer *buffer, uint32_t number, uint64_t value) {
    wh_put_varint(buffer, (uint64_t)number << 3);
    wh_put_varint(buffer, value);
}

// ------------------------------------------------------------------------------------------------------- the event

enum {
    WH_BEFORE = 1,
    WH_AFTER = 2,
    WH_OP = 3,
    WH_SOURCE = 4,
    WH_TS = 5,
    WH_SCHEMA = 6,
    WH_TABLE = 7,
    WH_PRIMARY_KEY = 8,
    WH_SNAPSHOT = 9,
    WH_TRANSACTION = 10,
    WH_ENVELOPE_VERSION = 11,
    WH_BEFORE_IS_KEY_ONLY = 12,
    WH_UNAVAILABLE_COLUMNS = 13,
    WH_BEFORE_UNAVAILABLE_COLUMNS = 14,
    WH_ATTRIBUTES = 1000,
};

typedef enum {
    WH_UNSPECIFIED = 0,
    WH_INSERT = 1,
    WH_UPDATE = 2,
    WH_DELETE = 3,
    WH_READ = 4,
    WH_SCHEMA_CHANGE = 5,
    WH_TRUNCATE = 6,
} wh_operation;

// An event as it came, with the spans of its fields. `at` is NULL for an image or a schema that is not there.
typedef struct {
    wh_bytes bytes;
    wh_bytes before;
    wh_bytes after;
    wh_bytes schema;
    wh_bytes table;
    uint64_t ts;
    uint32_t op;
    uint32_t envelope_version;
    bool before_is_key_only;
    bool has_attributes;
    uint32_t repeated; // bit n: field n stands there more than once
    struct {
        uint32_t start;
        uint32_t end;
    } last[WH_BEFORE_UNAVAILABLE_COLUMNS + 1]; // where the last occurrence of each field stands; end 0: nowhere
} wh_event;

// Whether the schema has this field. A known number with another wire type is an unknown field: kept, never read.
static inline bool wh_is_known(const wh_field *field) {
    if (field->number == WH_ATTRIBUTES) return field->wire == 2;
    if (field->number > WH_BEFORE_UNAVAILABLE_COLUMNS) return false;
    uint32_t numbers = 1u << WH_OP | 1u << WH_TS | 1u << WH_ENVELOPE_VERSION | 1u << WH_BEFORE_IS_KEY_ONLY;
    return field->wire == (numbers >> field->number & 1 ? 0 : 2);
}

static inline void wh_note_field(wh_event *event, const wh_field *field) {
    if (!wh_is_known(field)) return;
    if (field->number <= WH_BEFORE_UNAVAILABLE_COLUMNS) {
        if (event->last[field->number].end) event->repeated |= 1u << field->number;
        event->last[field->number].start = (uint32_t)(field->whole.at - event->bytes.at);
        event->last[field->number].end = event->last[field->number].start + field->whole.size;
    }
    switch (field->number) {
        case WH_BEFORE: event->before = field->body; break;
        case WH_AFTER: event->after = field->body; break;
        case WH_OP: event->op = (uint32_t)field->varint; break;
        case WH_TS: event->ts = field->varint; break;
        case WH_SCHEMA: event->schema = field->body; break;
        case WH_TABLE: event->table = field->body; break;
        case WH_ENVELOPE_VERSION: event->envelope_version = (uint32_t)field->varint; break;
        case WH_BEFORE_IS_KEY_ONLY: event->before_is_key_only = field->varint != 0; break;
        case WH_ATTRIBUTES: event->has_attributes = true; break;
    }
}

// Walks the top level of a message. UINT32_MAX when it is one; else the offset of the tag at which the walk stopped.
static uint32_t wh_read_event(wh_bytes bytes, wh_event *event) {
    *event = (wh_event){.bytes = bytes};
    wh_field field;
    wh_bytes rest = bytes;
    while (wh_next_field(&rest, &field)) wh_note_field(event, &field);
    return rest.size == 0 ? UINT32_MAX : bytes.size - rest.size;
}

// The next occurrence of a field, for the repeated ones; start with `rest` set to `event->bytes`.
static bool wh_next_of(wh_bytes *rest, uint32_t number, wh_bytes *body) {
    wh_field field;
    while (wh_next_field(rest, &field)) {
        if (field.number != number || field.wire != 2) continue;
        *body = field.body;
        return true;
    }
    return false;
}

// The content of the last occurrence of a text or a nested message (walk that with `wh_next_field`); `at` is NULL when
// there is none.
static wh_bytes wh_body_of(const wh_event *event, uint32_t number) {
    wh_bytes rest = event->bytes, body, last = {0};
    while (wh_next_of(&rest, number, &body)) last = body;
    return last;
}

typedef struct {
    wh_bytes key;
    wh_bytes value;
} wh_attribute;

// Reads an entry of `attributes`; false when it cannot be walked. What is missing is empty.
static bool wh_read_attribute(wh_bytes entry, wh_attribute *attribute) {
    *attribute = (wh_attribute){{entry.at, 0}, {entry.at, 0}};
    wh_field field;
    while (wh_next_field(&entry, &field)) {
        if (field.wire == 2 && field.number == 1) attribute->key = field.body;
        if (field.wire == 2 && field.number == 2) attribute->value = field.body;
    }
    return entry.size == 0;
}

// Finds an attribute, of several the last: true when all entries could be walked, and then `value->at` is NULL when
// there is none. Otherwise `trouble_at` is the offset of the entry's tag.
static bool wh_find_attribute(const wh_event *event, wh_bytes key, wh_bytes *value, uint32_t *trouble_at) {
    *value = (wh_bytes){0};
    if (!event->has_attributes) return true;
    wh_bytes rest = event->bytes;
    wh_field field;
    wh_attribute attribute;
    while (wh_next_field(&rest, &field)) {
        if (field.number != WH_ATTRIBUTES || field.wire != 2) continue;
        if (!wh_read_attribute(field.body, &attribute)) {
            *trouble_at = (uint32_t)(field.whole.at - event->bytes.at);
            return false;
        }
        if (wh_same(attribute.key, key)) *value = attribute.value;
    }
    return true;
}

// -------------------------------------------------------------------------------------------------------- answers

typedef uint64_t wh_answer; // what `transform` returns

static wh_answer wh_keep_last_images(const wh_event *event);

// Whether an image stands there more than once. Guests look into the last one only, so the others must not go on.
static inline bool wh_repeats_image(const wh_event *event) {
    return event->repeated & (1u << WH_BEFORE | 1u << WH_AFTER);
}

static inline wh_answer wh_pack(uint64_t kind, wh_bytes bytes) {
    return kind << 62 | (uint64_t)(uint32_t)(uintptr_t)bytes.at << 32 | bytes.size;
}

// The event goes on as it came: its block is handed back. (Earlier occurrences of an image do not go on.)
static inline wh_answer wh_keep(const wh_event *event) {
    return wh_repeats_image(event) ? wh_keep_last_images(event) : wh_pack(0, event->bytes);
}

// The event is filtered out.
static inline wh_answer wh_drop(void) { return 0; }

// The bytes of one event, in a buffer that the host frees.
static inline wh_answer wh_one(wh_buffer event) { return wh_pack(0, wh_whole(&event)); }

// Several events; each was added by `wh_put_event`.
static inline wh_answer wh_several(wh_buffer events) { return wh_pack(1, wh_whole(&events)); }

static inline void wh_put_event(wh_buffer *events, wh_bytes event) {
    wh_put_varint(events, event.size);
    wh_put(events, event);
}

// The event failed; the text is for people.
WH_COLD static wh_answer wh_fail(wh_bytes text) {
    wh_buffer copy = {0};
    wh_put(&copy, text);
    return wh_pack(2, wh_whole(&copy));
}

WH_COLD static wh_answer wh_fail_at(wh_bytes text, uint32_t at) {
    wh_buffer message = {0};
    wh_put(&message, text);
    wh_put_decimal(&message, at);
    return wh_pack(2, wh_whole(&message));
}

static wh_answer wh_fail_not_an_event(uint32_t at) { return wh_fail_at(WH_TEXT("not an Event at byte "), at); }

// A document was refused; `name` says which.
WH_COLD static wh_answer wh_fail_json(wh_bytes name, uint32_t trouble_at) {
    wh_buffer message = {0};
    wh_put(&message, name);
    if (trouble_at == WH_JSON_TOO_DEEP) {
        wh_put(&message, WH_TEXT(" is nested deeper than 128 levels"));
    } else {
        wh_put(&message, WH_TEXT(" is not valid JSON at byte "));
        wh_put_decimal(&message, trouble_at);
    }
    return wh_pack(2, wh_whole(&message));
}

// ------------------------------------------------------------------------------------------------ changing an event

#define WH_MAX_CHANGES 16
#define WH_MAX_SET_ATTRIBUTES 8

// Where an attribute that is set goes: instead of an entry, before or behind one, or where there are none yet.
typedef enum { WH_INSTEAD, WH_IN_FRONT, WH_BEHIND, WH_ALONE } wh_goes;

// The fields of an event that are to be different; zero-initialised, none. What is set must outlive the change.
typedef struct {
    struct {
        uint32_t number;
        bool is_removed;
        bool is_number;
        uint64_t value;
        wh_bytes body;
        const uint8_t *last; // where the last occurrence stands; NULL when there is none
    } fields[WH_MAX_CHANGES];
    uint32_t count;
    const wh_bytes *removed_attributes;
    uint32_t removed_attribute_count;
    // In the order of their keys.
    struct {
        wh_attribute entry;
        wh_goes goes;
        const uint8_t *place; // start of that entry
    } set_attributes[WH_MAX_SET_ATTRIBUTES];
    uint32_t set_attribute_count;
} wh_change;

static inline uint32_t wh_change_slot(wh_change *change, uint32_t number) {
    uint32_t slot = 0;
    while (slot < change->count && change->fields[slot].number != number) slot++;
    if (slot == WH_MAX_CHANGES) __builtin_trap();
    if (slot == change->count) change->count++;
    change->fields[slot].number = number;
    change->fields[slot].last = NULL;
    return slot;
}

static inline void wh_remove(wh_change *change, uint32_t number) {
    change->fields[wh_change_slot(change, number)].is_removed = true;
}

// Sets an image, the schema or the table. An empty table is no table, as proto3 has it.
static inline void wh_set(wh_change *change, uint32_t number, wh_bytes body) {
    uint32_t slot = wh_change_slot(change, number);
    change->fields[slot].is_number = false;
    change->fields[slot].is_removed = number == WH_TABLE && body.size == 0;
    change->fields[slot].body = body;
}

// Sets `op`, `ts`, `envelope_version` or `before_is_key_only`.
static inline void wh_set_number(wh_change *change, uint32_t number, uint64_t value) {
    uint32_t slot = wh_change_slot(change, number);
    change->fields[slot].is_number = true;
    change->fields[slot].is_removed = value == 0;
    change->fields[slot].value = value;
}

static void wh_put_change(wh_buffer *out, const wh_change *change, uint32_t slot) {
    if (change->fields[slot].is_removed) return;
    if (change->fields[slot].is_number) wh_put_number(out, change->fields[slot].number, change->fields[slot].value);
    else wh_put_delimited(out, change->fields[slot].number, change->fields[slot].body);
}

// Finds where the fields to be changed stand, and the end of the last known field.
static const uint8_t *wh_locate_changes(wh_bytes event, wh_change *change) {
    const uint8_t *known_end = event.at;
    wh_field field;
    while (wh_next_field(&event, &field)) {
        if (!wh_is_known(&field)) continue;
        known_end = event.at;
        for (uint32_t slot = 0; slot < change->count; slot++) {
            if (change->fields[slot].number == field.number) change->fields[slot].last = field.whole.at;
        }
    }
    return known_end;
}

// The change to an absent field with the smallest number from `from` on, or `count`.
static uint32_t wh_next_absent(const wh_change *change, uint32_t from) {
    uint32_t found = change->count;
    for (uint32_t slot = 0; slot < change->count; slot++) {
        uint32_t number = change->fields[slot].number;
        if (change->fields[slot].last || number < from) continue;
        if (found == change->count || number < change->fields[found].number) found = slot;
    }
    return found;
}

static bool wh_is_one_of(wh_bytes text, const wh_bytes *texts, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        if (wh_same(text, texts[i])) return true;
    }
    return false;
}

// Removes every attribute with one of these keys. False when an entry cannot be walked: `trouble_at` is its tag.
static bool wh_remove_attributes(wh_change *change, const wh_event *event, const wh_bytes *keys, uint32_t count,
                                 uint32_t *trouble_at) {
    wh_bytes rest = event->bytes;
    wh_field field;
    wh_attribute attribute;
    while (event->has_attributes && wh_next_field(&rest, &field)) {
        if (field.number != WH_ATTRIBUTES || field.wire != 2) continue;
        if (!wh_read_attribute(field.body, &attribute)) {
            *trouble_at = (uint32_t)(field.whole.at - event->bytes.at);
            return false;
        }
        if (!wh_is_one_of(attribute.key, keys, count)) continue;
        change->removed_attributes = keys;
        change->removed_attribute_count = count;
    }
    return true;
}

// Sets an attribute; a key that is set is not removed. False when an entry cannot be walked: `trouble_at` is its tag.
static bool wh_set_attribute(wh_change *change, const wh_event *event, wh_bytes key, wh_bytes value,
                             uint32_t *trouble_at) {
    wh_goes goes = WH_ALONE;
    const uint8_t *place = NULL;
    wh_bytes rest = event->bytes;
    wh_field field;
    wh_attribute attribute;
    while (event->has_attributes && wh_next_field(&rest, &field)) {
        if (field.number != WH_ATTRIBUTES || field.wire != 2) continue;
        if (!wh_read_attribute(field.body, &attribute)) {
            *trouble_at = (uint32_t)(field.whole.at - event->bytes.at);
            return false;
        }
        int order = wh_order(attribute.key, key);
        if (order == 0) goes = WH_INSTEAD, place = field.whole.at;
        else if (goes == WH_ALONE || goes == WH_BEHIND) goes = order > 0 ? WH_IN_FRONT : WH_BEHIND, place = field.whole.at;
    }
    uint32_t slot = 0;
    while (slot < change->set_attribute_count && wh_order(change->set_attributes[slot].entry.key, key) < 0) slot++;
    if (slot == change->set_attribute_count || !wh_same(change->set_attributes[slot].entry.key, key)) {
        if (change->set_attribute_count == WH_MAX_SET_ATTRIBUTES) __builtin_trap();
        for (uint32_t i = change->set_attribute_count++; i > slot; i--) {
            change->set_attributes[i] = change->set_attributes[i - 1];
        }
    }
    change->set_attributes[slot].entry = (wh_attribute){key, value};
    change->set_attributes[slot].goes = goes;
    change->set_attributes[slot].place = place;
    return true;
}

// Whether an entry does not stay: its key is set, or removed.
static bool wh_is_gone_attribute(const wh_change *change, const wh_field *field) {
    wh_attribute attribute;
    if (field->number != WH_ATTRIBUTES || !(change->removed_attribute_count | change->set_attribute_count)) return false;
    if (!wh_read_attribute(field->body, &attribute)) return false;
    for (uint32_t i = 0; i < change->set_attribute_count; i++) {
        if (wh_same(change->set_attributes[i].entry.key, attribute.key)) return true;
    }
    return wh_is_one_of(attribute.key, change->removed_attributes, change->removed_attribute_count);
}

static uint32_t wh_varint_size(uint32_t number) {
    uint32_t size = 1;
    while (number >>= 7) size++;
    return size;
}

// Writes the attributes that go to a place; key and value are written even when they are empty, as protobuf does.
static void wh_put_attributes(wh_buffer *out, const wh_change *change, wh_goes goes, const uint8_t *place) {
    for (uint32_t i = 0; i < change->set_attribute_count; i++) {
        if (change->set_attributes[i].goes != goes || change->set_attributes[i].place != place) continue;
        wh_attribute entry = change->set_attributes[i].entry;
        wh_put_varint(out, WH_ATTRIBUTES << 3 | 2);
        wh_put_varint(out, 2 + wh_varint_size(entry.key.size) + entry.key.size + wh_varint_size(entry.value.size) +
                               entry.value.size);
        wh_put_delimited(out, 1, entry.key);
        wh_put_delimited(out, 2, entry.value);
    }
}

static bool wh_has_attributes_at(const wh_change *change, const uint8_t *place) {
    for (uint32_t i = 0; i < change->set_attribute_count; i++) {
        if (change->set_attributes[i].place == place) return true;
    }
    return false;
}

// Copies a run of unchanged bytes, then writes the absent fields with numbers from `*from` up to `below`.
static void wh_put_absent(wh_buffer *out, const wh_change *change, wh_bytes run, uint32_t *from, uint32_t below) {
    wh_put(out, run);
    for (;;) {
        uint32_t slot = wh_next_absent(change, *from);
        if (slot == change->count || change->fields[slot].number >= below) break;
        wh_put_change(out, change, slot);
        *from = change->fields[slot].number + 1;
    }
}

// Writes an event in which only fields that stand there once are changed: by far the most common case.
static void wh_put_replaced(wh_buffer *out, const wh_event *event, const wh_change *change) {
    uint32_t copied = 0;
    for (uint32_t written = 0; written < change->count; written++) {
        uint32_t next = 0, next_start = UINT32_MAX;
        for (uint32_t slot = 0; slot < change->count; slot++) {
            uint32_t start = event->last[change->fields[slot].number].start;
            if (start >= copied && start < next_start) next = slot, next_start = start;
        }
        wh_put(out, wh_slice(event->bytes, copied, next_start));
        wh_put_change(out, change, next);
        copied = event->last[change->fields[next].number].end;
    }
    wh_put(out, wh_slice(event->bytes, copied, event->bytes.size));
}

static bool wh_is_replacing(const wh_event *event, const wh_change *change) {
    for (uint32_t slot = 0; slot < change->count; slot++) {
        uint32_t number = change->fields[slot].number;
        if (number > WH_BEFORE_UNAVAILABLE_COLUMNS) return false;
        if (!event->last[number].end || event->repeated >> number & 1) return false;
    }
    return !change->removed_attribute_count && !change->set_attribute_count;
}

// Sets each image that stands there more than once to its last occurrence, unless the change has it already.
WH_COLD static void wh_set_last_images(const wh_event *event, wh_change *change) {
    for (uint32_t number = WH_BEFORE; number <= WH_AFTER; number++) {
        bool is_changed = false;
        for (uint32_t slot = 0; slot < change->count; slot++) is_changed |= change->fields[slot].number == number;
        if (is_changed || !(event->repeated >> number & 1)) continue;
        wh_set(change, number, number == WH_BEFORE ? event->before : event->after);
    }
}

// Writes the event with its changes. A field takes the place of its last occurrence; one that was absent goes before
// the first known field with a higher number, or behind the last known one. Everything else keeps bytes and order.
static void wh_put_changed(wh_buffer *out, const wh_event *event, wh_change *change) {
    if (wh_repeats_image(event)) wh_set_last_images(event, change);
    if (wh_is_replacing(event, change)) {
        wh_put_replaced(out, event, change);
        return;
    }
    const uint8_t *known_end = wh_locate_changes(event->bytes, change);
    const uint8_t *copied = event->bytes.at; // all before it is written
    wh_bytes rest = event->bytes;
    wh_field field;
    uint32_t from = 0;
    bool is_alone = wh_has_attributes_at(change, NULL); // attributes are set, and the event has none
    if (known_end == copied) {
        wh_put_absent(out, change, (wh_bytes){copied, 0}, &from, UINT32_MAX);
        wh_put_attributes(out, change, WH_ALONE, NULL);
    }
    while (wh_next_field(&rest, &field)) {
        if (!wh_is_known(&field)) continue;
        uint32_t slot = 0;
        while (slot < change->count && change->fields[slot].number != field.number) slot++;
        const uint8_t *start = field.whole.at;
        bool is_gone = slot < change->count || wh_is_gone_attribute(change, &field);
        bool is_place = wh_has_attributes_at(change, start);
        uint32_t absent = wh_next_absent(change, from);
        if (is_gone || is_place || (absent < change->count && change->fields[absent].number < field.number)) {
            wh_put_absent(out, change, (wh_bytes){copied, (uint32_t)(start - copied)}, &from, field.number);
            copied = start;
        }
        if (is_place) {
            wh_put_attributes(out, change, WH_IN_FRONT, start);
            wh_put_attributes(out, change, WH_INSTEAD, start);
            if (!is_gone) wh_put(out, field.whole);
            wh_put_attributes(out, change, WH_BEHIND, start);
            copied = rest.at;
        }
        if (slot < change->count && change->fields[slot].last == start) wh_put_change(out, change, slot);
        if (is_gone) copied = rest.at;
        if (rest.at != known_end || (absent == change->count && !is_alone)) continue;
        wh_put_absent(out, change, (wh_bytes){copied, (uint32_t)(known_end - copied)}, &from, UINT32_MAX);
        wh_put_attributes(out, change, WH_ALONE, NULL);
        copied = known_end;
    }
    wh_put(out, (wh_bytes){copied, (uint32_t)(event->bytes.at + event->bytes.size - copied)});
}

// The event goes on with its changes; without any, as it came.
static wh_answer wh_changed(const wh_event *event, wh_change *change) {
    bool has_attributes = change->removed_attribute_count || change->set_attribute_count;
    if (!change->count && !has_attributes && !wh_repeats_image(event)) return wh_keep(event);
    wh_buffer out = {0};
    wh_reserve(&out, event->bytes.size + 64);
    wh_put_changed(&out, event, change);
    return wh_one(out);
}

WH_COLD static wh_answer wh_keep_last_images(const wh_event *event) {
    wh_change change = {.count = 0};
    return wh_changed(event, &change);
}

// ----------------------------------------------------------------------------------- configuration, checked in words
//
// Each function below checks one thing and, when it does not hold, refuses the configuration in the words of
// sdk/SEMANTICS.md. Only the first refusal counts and is logged; after it the functions give harmless values, so a
// guest reads its whole configuration in a row and asks `wh_is_refused` once.

static bool wh_is_refused;

// Logs `configuration: LOCATION PROBLEM`.
WH_COLD static void wh_refuse(wh_bytes location, wh_bytes problem) {
    if (wh_is_refused) return;
    wh_is_refused = true;
    wh_buffer text = {0};
    wh_put(&text, WH_TEXT("configuration: "));
    wh_put(&text, location);
    if (location.size) wh_put_byte(&text, ' ');
    wh_put(&text, problem);
    wh_log(WH_ERROR, wh_whole(&text));
    wh_drop_buffer(&text);
}

// One map of the configuration; `location` is how messages name it, empty for the whole.
typedef struct {
    wh_value map;
    wh_bytes location;
} wh_reader;

// A value and how messages name it.
typedef struct {
    wh_value value;
    wh_bytes location;
} wh_entry;

// The place of a word in a list written `one, two, three`, or -1.
WH_COLD static int32_t wh_word(wh_bytes words, wh_bytes word) {
    int32_t index = 0;
    for (uint32_t at = 0; at < words.size; index++) {
        uint32_t end = at;
        while (end < words.size && words.at[end] != ',') end++;
        if (wh_same(wh_slice(words, at, end), word)) return index;
        at = end + 2;
    }
    return -1;
}

// Locations live as long as the configuration, so nobody frees them.
WH_COLD static wh_bytes wh_place(const wh_reader *reader, wh_bytes key) {
    wh_buffer place = {0};
    wh_put(&place, reader->location);
    if (reader->location.size) wh_put_byte(&place, '.');
    wh_put(&place, key);
    return wh_whole(&place);
}

WH_COLD static wh_reader wh_open(wh_entry entry, wh_bytes allowed) {
    wh_reader reader = {entry.value, entry.location};
    if (entry.value.kind != WH_MAP) {
        wh_refuse(entry.location, WH_TEXT("must be a map"));
        return reader;
    }
    wh_bytes rest = entry.value.body;
    for (uint32_t i = 0; i < entry.value.count; i++) {
        wh_value key, value;
        if (!wh_read_value(&rest, &key) || !wh_read_value(&rest, &value)) break;
        if (key.kind != WH_STR) wh_refuse(entry.location, WH_TEXT("has a key that is not a string"));
        else if (wh_word(allowed, key.body) < 0) wh_refuse(WH_TEXT("unknown key"), wh_place(&reader, key.body));
    }
    return reader;
}

WH_COLD static bool wh_has(const wh_reader *reader, wh_bytes key) {
    wh_value found;
    return wh_lookup(&reader->map, key, &found);
}

WH_COLD static wh_entry wh_required(const wh_reader *reader, wh_bytes key) {
    wh_entry entry = {{.kind = WH_NIL}, wh_place(reader, key)};
    if (!wh_lookup(&reader->map, key, &entry.value)) wh_refuse(entry.location, WH_TEXT("is missing"));
    return entry;
}

// Text that is not empty.
WH_COLD static wh_bytes wh_check_string(wh_entry entry) {
    if (entry.value.kind != WH_STR) wh_refuse(entry.location, WH_TEXT("must be a string"));
    else if (!entry.value.body.size) wh_refuse(entry.location, WH_TEXT("must not be empty"));
    return entry.value.kind == WH_STR ? entry.value.body : (wh_bytes){0};
}

// One word of a list written `one, two, three`, by its place; 0 after a refusal.
WH_COLD static uint32_t wh_check_choice(wh_entry entry, wh_bytes choices) {
    int32_t index = entry.value.kind == WH_STR ? wh_word(choices, entry.value.body) : -1;
    if (index >= 0) return (uint32_t)index;
    wh_buffer problem = {0};
    wh_put(&problem, WH_TEXT("must be one of "));
    wh_put(&problem, choices);
    wh_refuse(entry.location, wh_whole(&problem));
    return 0;
}

WH_COLD static uint32_t wh_check_integer(wh_entry entry, uint32_t low, uint32_t high) {
    wh_value value = entry.value;
    if (value.kind == WH_INT && !value.negative && value.number >= low && value.number <= high) {
        return (uint32_t)value.number;
    }
    wh_buffer problem = {0};
    wh_put(&problem, WH_TEXT("must be an integer from "));
    wh_put_decimal(&problem, low);
    wh_put(&problem, WH_TEXT(" to "));
    wh_put_decimal(&problem, high);
    wh_refuse(entry.location, wh_whole(&problem));
    return low;
}

#define WH_MAX_ENTRIES 64

typedef struct {
    wh_entry at[WH_MAX_ENTRIES];
    uint32_t count;
} wh_entries;

WH_COLD static wh_bytes wh_place_of_entry(wh_bytes location, uint32_t index) {
    wh_buffer place = {0};
    wh_put(&place, location);
    wh_put_byte(&place, '[');
    wh_put_decimal(&place, index);
    wh_put_byte(&place, ']');
    return wh_whole(&place);
}

// A list of 1 to 64 entries, each with its location; none after a refusal.
WH_COLD static void wh_check_list(wh_entry entry, wh_entries *entries) {
    entries->count = 0;
    wh_bytes rest = entry.value.body;
    if (entry.value.kind != WH_ARRAY) {
        wh_refuse(entry.location, WH_TEXT("must be a list"));
    } else if (entry.value.count < 1 || entry.value.count > WH_MAX_ENTRIES) {
        wh_refuse(entry.location, WH_TEXT("must have from 1 to 64 entries"));
    } else {
        while (entries->count < entry.value.count && wh_read_value(&rest, &entries->at[entries->count].value)) {
            entries->at[entries->count].location = wh_place_of_entry(entry.location, entries->count);
            entries->count++;
        }
    }
}

typedef struct {
    wh_bytes at[WH_MAX_ENTRIES];
    uint32_t count;
} wh_texts;

// A list of strings that are not empty; an absent key is an empty list.
WH_COLD static void wh_check_strings(const wh_reader *reader, wh_bytes key, wh_texts *texts) {
    texts->count = 0;
    if (!wh_has(reader, key)) return;
    static wh_entries entries;
    wh_check_list(wh_required(reader, key), &entries);
    for (uint32_t i = 0; i < entries.count; i++) texts->at[texts->count++] = wh_check_string(entries.at[i]);
}

#define WH_MAX_PATH_BYTES 100

static bool wh_has_control_character(wh_bytes text) {
    for (uint32_t i = 0; i < text.size; i++) {
        if (text.at[i] < ' ') return true;
    }
    return false;
}

// Takes one segment of a path off `text`; `at` moves to the dot behind it. The characters go to `key`.
WH_COLD static bool wh_take_segment(wh_bytes text, uint32_t *at, wh_buffer *key, bool *is_any, wh_bytes *problem) {
    bool is_plain = true;
    for (; *at < text.size && text.at[*at] != '.'; ++*at) {
        if (text.at[*at] == '\\') {
            is_plain = false;
            ++*at;
            if (*at >= text.size || !(text.at[*at] == '.' || text.at[*at] == '*' || text.at[*at] == '\\')) {
                *problem = WH_TEXT("has a backslash before something else than \".\", \"*\" or \"\\\"");
                return false;
            }
        }
        wh_put_byte(key, text.at[*at]);
    }
    *is_any = is_plain && wh_same(wh_whole(key), WH_TEXT("*"));
    *problem = WH_TEXT("has an empty segment");
    return key->size > 0;
}

// A dotted path; empty after a refusal. It lives as long as the configuration.
WH_COLD static wh_path wh_check_path(wh_entry entry) {
    wh_path path = {0};
    wh_bytes text = wh_check_string(entry);
    if (text.size > WH_MAX_PATH_BYTES) wh_refuse(entry.location, WH_TEXT("must have at most 100 bytes"));
    else if (wh_has_control_character(text)) wh_refuse(entry.location, WH_TEXT("has a control character"));
    if (wh_is_refused) return path;
    // A segment and its dot take two bytes at least.
    path.segments = wh_alloc((text.size / 2 + 1) * sizeof(wh_segment));
    for (uint32_t at = 0; at <= text.size; at++) {
        wh_buffer key = {0};
        wh_bytes problem;
        bool is_any;
        if (!wh_take_segment(text, &at, &key, &is_any, &problem)) {
            wh_refuse(entry.location, problem);
            return (wh_path){0};
        }
        path.segments[path.count++] = (wh_segment){wh_whole(&key), is_any};
    }
    return path;
}

// A path of one key, which is taken as it stands.
static wh_path wh_path_of_key(wh_bytes key) {
    wh_path path = {wh_alloc(sizeof(wh_segment)), 1};
    path.segments[0] = (wh_segment){key, false};
    return path;
}

static bool wh_same_path(const wh_path *a, const wh_path *b) {
    if (a->count != b->count) return false;
    for (uint32_t i = 0; i < a->count; i++) {
        if (a->segments[i].is_any != b->segments[i].is_any) return false;
        if (!wh_same(a->segments[i].key, b->segments[i].key)) return false;
    }
    return true;
}

// -------------------------------------------------------------------------------------------------------- exports

static void wh_on_config(wh_entry config);
#ifdef WH_TAKES_BYTES
static wh_answer wh_on_bytes(wh_bytes bytes);
#else
static wh_answer wh_on_event(const wh_event *event);
#endif

WH_EXPORT("wasm_host_abi_version") int32_t wh_export_version(void) { return 1; }

WH_EXPORT("alloc") void *wh_export_alloc(uint32_t size) { return wh_alloc(size); }

WH_EXPORT("dealloc") void wh_export_dealloc(void *memory, uint32_t size) {
    (void)size; // the block knows its own
    wh_free(memory);
}

WH_EXPORT("init") int32_t wh_export_init(const uint8_t *at, uint32_t size) {
    // The host takes its block back, but texts of the configuration stay in use.
    wh_buffer copy = {0};
    wh_put(&copy, (wh_bytes){at, size});
    wh_bytes rest = wh_whole(&copy);
    wh_value value;
    wh_is_refused = false;
    if (!wh_read_value(&rest, &value) || rest.size) wh_refuse((wh_bytes){0}, WH_TEXT("not valid MessagePack"));
    else wh_on_config((wh_entry){value, {0}});
    return wh_is_refused ? 1 : 0;
}

WH_EXPORT("transform") uint64_t wh_export_transform(const uint8_t *at, uint32_t size) {
#ifdef WH_TAKES_BYTES
    return wh_on_bytes((wh_bytes){at, size});
#else
    wh_event event;
    uint32_t trouble_at = wh_read_event((wh_bytes){at, size}, &event);
    return trouble_at == UINT32_MAX ? wh_on_event(&event) : wh_fail_not_an_event(trouble_at);
#endif
}

#endif
