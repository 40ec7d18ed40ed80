;; The output validator: do these bytes parse as a `rustcdc.Event` of abi/event.proto?
;;
;; A fragment: fields of a module without the module around them. The enclosing module names its memory `$staging` and
;; its engine has SIMD (every name here begins with `$v_`).
;;
;;   $v_validate_event (ptr, len) -> 1 or 0      the whole message
;;   $v_varint         (ptr, end) -> i64, next   one length prefix, to split a delimited stream; next 0 is malformed
;;
;; The verdict is that of the `protobuf` package (its C core, upb), which was asked by experiment and is asked again by
;; tests/property/test_validator_matches_protobuf.py. Its rules, where they are not obvious:
;;
;;   tags, lengths     a varint of at most 5 bytes (padding with 0x80 is allowed) and at most 2^32-1
;;   varint values     at most 10 bytes; surplus bits of the tenth are ignored
;;   field number 0    malformed, except inside an unknown group, where it is skipped like any other
;;   wire types 6, 7   malformed everywhere
;;   a known field with another wire type than the schema's is an unknown field, and skipped
;;   groups            the schema has none, so each is unknown: its end must carry its number, and 100 levels of
;;                     message and group may lie inside one another (the event itself is not counted)
;;   UTF-8             checked in `string` fields only; never in `bytes`, unknown fields or groups
;;
;; Safety: every load lies inside [ptr, ptr + len), which the caller has checked to lie inside the memory. Nothing here
;; traps, writes, or keeps state. Each byte is looked at a bounded number of times. The only recursion is one level for
;; each open group, at most 100.
;;
;; Every instruction costs fuel and every call spills it, so the common shapes (one-byte tags, short lengths, short
;; ASCII strings) stay inside the one function and everything rare is behind a call.

;; What a length-delimited field holds, by field number: bit f is set when field f is a string, bit 16 + f when it is
;; a message. All known fields but `attributes` (1000) have numbers below 16, so one word describes a message type.
(global $v_event_kinds i32
  (i32.const 0x061061c0))  ;; strings 6 7 8 13 14; messages 4 9 10
(global $v_source_kinds i32
  (i32.const 0x00000006))  ;; strings 1 2
(global $v_snapshot_kinds i32
  (i32.const 0x00000002))  ;; string 1
(global $v_transaction_kinds i32
  (i32.const 0x00000000))  ;; numbers only
(global $v_attribute_kinds i32
  (i32.const 0x00000002))  ;; string 1, the key; 2, the value, is bytes

;; 1 when the bytes parse as an Event, else 0.
;;
;; Messages nest only once (an event holds others, those hold none), so there is no recursion: $end is where the
;; message under way ends, $kinds which message it is, and at $end the walk goes on in the event, up to $limit.
(func $v_validate_event (param $ptr i32) (param $len i32) (result i32)
  (local $p i32)
  (local $limit i32)
  (local $end i32)
  (local $kinds i32)
  (local $tag i32)
  (local $n i32)       ;; length of a delimited field
  (local $next i32)    ;; where that field ends
  (local $content i32) ;; $kinds shifted so that bit 0 says string and bit 16 says message
  (local $stops i64)   ;; bit 7 of each byte that ends a varint

  (local.set $p (local.get $ptr))
  (local.set $limit (i32.add (local.get $ptr) (local.get $len)))
  (local.set $end (local.get $limit))
  (local.set $kinds (global.get $v_event_kinds))

  (loop $field
    (if (i32.eq (local.get $p) (local.get $end))
      (then
        ;; A nested message that ends where the event ends needs no return to the event.
        (if (i32.eq (local.get $end) (local.get $limit))
          (then (return (i32.const 1))))
        (local.set $end (local.get $limit))
        (local.set $kinds (global.get $v_event_kinds))))

    (local.set $tag (i32.load8_u $staging (local.get $p)))
    (local.set $p (i32.add (local.get $p) (i32.const 1)))
    (if (i32.ge_u (local.get $tag) (i32.const 0x80))
      (then
        (call $v_varint32 (i32.sub (local.get $p) (i32.const 1)) (local.get $end))
        (local.set $p)
        (local.set $tag)
        (if (i32.eqz (local.get $p))
          (then (return (i32.const 0))))))
    (if (i32.lt_u (local.get $tag) (i32.const 8)) ;; field number 0
      (then (return (i32.const 0))))

    (block $delimited
      (br_if $delimited (i32.eq (i32.and (local.get $tag) (i32.const 7)) (i32.const 2)))

      (if (i32.and (local.get $tag) (i32.const 7))
        (then
          ;; Fixed width or a group. A group in a nested message has one level less to use.
          (local.set $p
            (call $v_skip_value
              (local.get $tag)
              (local.get $p)
              (local.get $end)
              (i32.sub (i32.const 100) (i32.ne (local.get $kinds) (global.get $v_event_kinds)))))
          (br_if $field (local.get $p))
          (return (i32.const 0))))

      ;; A varint. Its value does not matter: no value is wrong for a number, a bool or an open enum.
      (if (i32.eq (local.get $p) (local.get $end))
        (then (return (i32.const 0))))
      (if (i32.lt_u (i32.load8_u $staging (local.get $p)) (i32.const 0x80))
        (then
          (local.set $p (i32.add (local.get $p) (i32.const 1)))
          (br $field)))
      ;; Timestamps: find the last byte in one load. The load may look past a nested message, not past the event.
      (if (i32.ge_u (i32.sub (local.get $limit) (local.get $p)) (i32.const 8))
        (then
          (local.set $stops
            (i64.and
              (i64.xor (i64.load $staging align=1 (local.get $p)) (i64.const -1))
              (i64.const 0x8080808080808080)))
          (if (i64.ne (local.get $stops) (i64.const 0))
            (then
              (local.set $p
                (i32.add
                  (i32.add (local.get $p) (i32.const 1))
                  (i32.wrap_i64 (i64.shr_u (i64.ctz (local.get $stops)) (i64.const 3)))))
              (br_if $field (i32.le_u (local.get $p) (local.get $end)))
              (return (i32.const 0))))))
      (local.set $p (call $v_skip_varint (local.get $p) (local.get $end)))
      (br_if $field (local.get $p))
      (return (i32.const 0)))

    ;; Length-delimited. One-byte lengths here, longer ones behind a call.
    (if (i32.eq (local.get $p) (local.get $end))
      (then (return (i32.const 0))))
    (local.set $n (i32.load8_u $staging (local.get $p)))
    (if (i32.lt_u (local.get $n) (i32.const 0x80))
      (then
        (local.set $p (i32.add (local.get $p) (i32.const 1)))
        (if (i32.gt_u (local.get $n) (i32.sub (local.get $end) (local.get $p)))
          (then (return (i32.const 0)))))
      (else
        (call $v_length (local.get $p) (local.get $end))
        (local.set $p)
        (local.set $n)
        (if (i32.eqz (local.get $p))
          (then (return (i32.const 0))))))
    (local.set $next (i32.add (local.get $p) (local.get $n)))

    (if (i32.ge_u (local.get $tag) (i32.const 0x80))
      (then
        ;; Above the numbers that $kinds covers there is only `attributes` (1000, so tag 8002), in the event itself.
        (if (i32.and
              (i32.eq (local.get $tag) (i32.const 8002))
              (i32.eq (local.get $kinds) (global.get $v_event_kinds)))
          (then
            (local.set $end (local.get $next))
            (local.set $kinds (global.get $v_attribute_kinds))
            (br $field))) ;; $p is at the entry's first byte
        (local.set $p (local.get $next))
        (br $field)))

    (local.set $content (i32.shr_u (local.get $kinds) (i32.shr_u (local.get $tag) (i32.const 3))))
    (if (i32.and (local.get $content) (i32.const 1))
      (then
        ;; A short string: load the 16 bytes that end with it, keep the high bits of its own, all zero is ASCII. What
        ;; comes before the string is inside the event, if the event is that long by then.
        (if (i32.and
              (i32.le_u (local.get $n) (i32.const 16))
              (i32.ge_u (i32.sub (local.get $next) (local.get $ptr)) (i32.const 16)))
          (then
            (if (i32.eqz
                  (i32.shr_u
                    (i8x16.bitmask (v128.load $staging align=1 (i32.sub (local.get $next) (i32.const 16))))
                    (i32.sub (i32.const 16) (local.get $n))))
              (then
                (local.set $p (local.get $next))
                (br $field)))))
        (if (i32.eqz (call $v_utf8 (local.get $p) (local.get $next)))
          (then (return (i32.const 0))))
        (local.set $p (local.get $next))
        (br $field)))
    (if (i32.and (local.get $content) (i32.const 0x10000))
      (then
        (local.set $end (local.get $next))
        (local.set $kinds
          (select
            (global.get $v_source_kinds)
            (select
              (global.get $v_snapshot_kinds)
              (global.get $v_transaction_kinds)
              (i32.eq (local.get $tag) (i32.const 0x4a)))
            (i32.eq (local.get $tag) (i32.const 0x22))))
        (br $field)))
    ;; Bytes, or an unknown field: only its length counts.
    (local.set $p (local.get $next))
    (br $field))
  (unreachable)) ;; the loop is left by return only

;; Pass over the value of an unknown field whose tag has been read. Where it ends, or 0 when it is malformed.
(func $v_skip_value (param $tag i32) (param $p i32) (param $end i32) (param $levels i32) (result i32)
  (local $n i32)
  (local $inner i32)
  (block $malformed
    (block $fixed32
      (block $group
        (block $delimited
          (block $fixed64
            (block $varint
              (br_table $varint $fixed64 $delimited $group $malformed $fixed32 $malformed
                (i32.and (local.get $tag) (i32.const 7))))
            (return (call $v_skip_varint (local.get $p) (local.get $end))))
          (br_if $malformed (i32.lt_u (i32.sub (local.get $end) (local.get $p)) (i32.const 8)))
          (return (i32.add (local.get $p) (i32.const 8))))
        (call $v_length (local.get $p) (local.get $end))
        (local.set $p)
        (local.set $n)
        (br_if $malformed (i32.eqz (local.get $p)))
        (return (i32.add (local.get $p) (local.get $n))))
      (br_if $malformed (i32.eqz (local.get $levels)))
      (loop $field
        (call $v_varint32 (local.get $p) (local.get $end)) ;; says malformed at $end: the group is still open
        (local.set $p)
        (local.set $inner)
        (br_if $malformed (i32.eqz (local.get $p)))
        ;; Same number, wire type 4 instead of 3: this group's end. Any other end is malformed by the table above.
        (if (i32.eq (local.get $inner) (i32.add (local.get $tag) (i32.const 1)))
          (then (return (local.get $p))))
        (local.set $p
          (call $v_skip_value
            (local.get $inner)
            (local.get $p)
            (local.get $end)
            (i32.sub (local.get $levels) (i32.const 1))))
        (br_if $malformed (i32.eqz (local.get $p)))
        (br $field)))
    (br_if $malformed (i32.lt_u (i32.sub (local.get $end) (local.get $p)) (i32.const 4)))
    (return (i32.add (local.get $p) (i32.const 4))))
  (i32.const 0))

;; Where the varint at $p ends, or 0: it runs into $end, or its tenth byte does not end it.
(func $v_skip_varint (param $p i32) (param $end i32) (result i32)
  (local $stop i32)
  (local.set $stop (local.get $end))
  (if (i32.gt_u (i32.sub (local.get $end) (local.get $p)) (i32.const 10))
    (then (local.set $stop (i32.add (local.get $p) (i32.const 10)))))
  (loop $byte
    (if (i32.eq (local.get $p) (local.get $stop))
      (then (return (i32.const 0))))
    (local.set $p (i32.add (local.get $p) (i32.const 1)))
    (br_if $byte
      (i32.ge_u (i32.load8_u $staging (i32.sub (local.get $p) (i32.const 1))) (i32.const 0x80))))
  (local.get $p))

;; Read a varint as tags and lengths are: at most five bytes, at most 2^32-1. Its value and where it ends, or 0 and 0
;; when it is malformed or runs into $end. (An address just after a byte is never 0, so 0 cannot be mistaken.)
(func $v_varint32 (param $p i32) (param $end i32) (result i32 i32)
  (local $byte i32)
  (local $shift i32)
  (local $value i32)
  (loop $next
    (if (i32.eq (local.get $p) (local.get $end))
      (then (return (i32.const 0) (i32.const 0))))
    (local.set $byte (i32.load8_u $staging (local.get $p)))
    (local.set $p (i32.add (local.get $p) (i32.const 1)))
    (if (i32.eq (local.get $shift) (i32.const 28))
      (then
        ;; The fifth byte has room for four bits; more, or a sixth byte, is too long.
        (if (i32.gt_u (local.get $byte) (i32.const 0x0f))
          (then (return (i32.const 0) (i32.const 0))))))
    (local.set $value
      (i32.or
        (local.get $value)
        (i32.shl (i32.and (local.get $byte) (i32.const 0x7f)) (local.get $shift))))
    (local.set $shift (i32.add (local.get $shift) (i32.const 7)))
    (br_if $next (i32.ge_u (local.get $byte) (i32.const 0x80))))
  (local.get $value)
  (local.get $p))

;; The same for the driver, which splits delimited streams: the length is not compared with what follows.
(func $v_varint (param $p i32) (param $end i32) (result i64 i32)
  (local $value i32)
  (call $v_varint32 (local.get $p) (local.get $end))
  (local.set $p)
  (local.set $value)
  (i64.extend_i32_u (local.get $value))
  (local.get $p))

;; Read a length and make sure that so many bytes follow before $end. The length and where its bytes begin, or 0 and 0.
(func $v_length (param $p i32) (param $end i32) (result i32 i32)
  (local $n i32)
  (call $v_varint32 (local.get $p) (local.get $end))
  (local.set $p)
  (local.set $n)
  (if (i32.eqz (local.get $p))
    (then (return (i32.const 0) (i32.const 0))))
  (if (i32.gt_u (local.get $n) (i32.sub (local.get $end) (local.get $p)))
    (then (return (i32.const 0) (i32.const 0))))
  (local.get $n)
  (local.get $p))

;; 1 when [$p, $end) is UTF-8: no overlong form, no surrogate, nothing above U+10FFFF.
(func $v_utf8 (param $p i32) (param $end i32) (result i32)
  (local $left i32)
  (local $lead i32)
  (local $high i32) ;; high bits of sixteen bytes; then the code point without its last continuation bytes
  (block $malformed
    (loop $character
      (local.set $left (i32.sub (local.get $end) (local.get $p)))
      (if (i32.eqz (local.get $left))
        (then (return (i32.const 1))))
      (if (i32.ge_u (local.get $left) (i32.const 16))
        (then
          (local.set $high (i8x16.bitmask (v128.load $staging align=1 (local.get $p))))
          (if (i32.eqz (local.get $high))
            (then
              (local.set $p (i32.add (local.get $p) (i32.const 16)))
              (br $character)))
          ;; Step to the first byte that is not ASCII.
          (local.set $p (i32.add (local.get $p) (i32.ctz (local.get $high))))
          (local.set $left (i32.sub (local.get $end) (local.get $p)))))
      (local.set $lead (i32.load8_u $staging (local.get $p)))
      (if (i32.lt_u (local.get $lead) (i32.const 0x80))
        (then
          (local.set $p (i32.add (local.get $p) (i32.const 1)))
          (br $character)))
      (br_if $malformed (i32.lt_u (local.get $lead) (i32.const 0xc2))) ;; a stray continuation, or an overlong pair
      (br_if $malformed (i32.lt_u (local.get $left) (i32.const 2)))
      (br_if $malformed ;; the second byte must be a continuation (10xxxxxx) in every form
        (i32.ne
          (i32.and (i32.load8_u $staging offset=1 (local.get $p)) (i32.const 0xc0))
          (i32.const 0x80)))
      (if (i32.lt_u (local.get $lead) (i32.const 0xe0))
        (then
          (local.set $p (i32.add (local.get $p) (i32.const 2)))
          (br $character)))
      (br_if $malformed (i32.lt_u (local.get $left) (i32.const 3)))
      (br_if $malformed
        (i32.ne
          (i32.and (i32.load8_u $staging offset=2 (local.get $p)) (i32.const 0xc0))
          (i32.const 0x80)))
      ;; Lead and second byte hold all that decides whether the code point is allowed.
      (local.set $high
        (i32.or
          (i32.shl (i32.and (local.get $lead) (i32.const 0x0f)) (i32.const 6))
          (i32.and (i32.load8_u $staging offset=1 (local.get $p)) (i32.const 0x3f))))
      (if (i32.lt_u (local.get $lead) (i32.const 0xf0))
        (then
          ;; $high is the code point / 64: U+0800 and above (20), and not U+D800 to U+DFFF (360 to 37f).
          (br_if $malformed (i32.lt_u (local.get $high) (i32.const 0x20)))
          (br_if $malformed (i32.eq (i32.and (local.get $high) (i32.const 0x3e0)) (i32.const 0x360)))
          (local.set $p (i32.add (local.get $p) (i32.const 3)))
          (br $character)))
      (br_if $malformed (i32.lt_u (local.get $left) (i32.const 4)))
      (br_if $malformed
        (i32.ne
          (i32.and (i32.load8_u $staging offset=3 (local.get $p)) (i32.const 0xc0))
          (i32.const 0x80)))
      ;; $high is the code point / 4096: U+10000 (10) to U+10FFFF (10f). The lead bytes f8 and above, which begin no
      ;; character, lie above that range too: their fourth bit is still in $high.
      (br_if $malformed
        (i32.ge_u (i32.sub (local.get $high) (i32.const 0x10)) (i32.const 0x100)))
      (local.set $p (i32.add (local.get $p) (i32.const 4)))
      (br $character)))
  (i32.const 0))
