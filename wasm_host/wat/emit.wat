;; From an answer in the guest's memory to rows in the output.
;;
;; The answer under way is in the state block (answer_*), so that a run which ends for want of room can go on with it.
;; Nothing counts yet: what the output will be is put into the globals below, and `run` makes it count when the guest has
;; taken its block back, because a trap in `dealloc` fails the event like any other trap.
;; Each function returns 0 (went well), 1 (no room: the host drains the output and runs on) or 2 (the event failed).

(global $next_output_events (mut i32) (i32.const 0))
(global $next_output_bytes (mut i32) (i32.const 0))
(global $next_failure_bytes (mut i32) (i32.const 0))

(func $no_room (param $bytes i32) (result i32)
  (i32.store $staging offset=@answer_waits (i32.const 0) (i32.const 1))
  (i32.store $staging offset=@bytes_wanted (i32.const 0) (local.get $bytes))
  (i32.const 1))

;; Gives the answer's block back to the guest and notes what its output will be.
(func $finish (param $events i32) (param $bytes i32) (result i32)
  (i32.store $staging offset=@stage (i32.const 0) (i32.const 4))
  (call $dealloc
    (i32.load $staging offset=@answer_ptr (i32.const 0))
    (i32.load $staging offset=@answer_block_bytes (i32.const 0)))
  (global.set $next_output_events (local.get $events))
  (global.set $next_output_bytes (local.get $bytes))
  (i32.const 0))

;; Writes the n-th output's row and end. The arrays are what Arrow wants: ends are the offsets from the second on.
(func $write_entry (param $n i32) (param $row i32) (param $end i32)
  (local $at i32)
  (local.set $at (i32.shl (local.get $n) (i32.const 2)))
  (i32.store $staging
    (i32.add (i32.load $staging offset=@rows_address (i32.const 0)) (local.get $at)) (local.get $row))
  (i32.store $staging
    (i32.add (i32.load $staging offset=@ends_address (i32.const 0)) (local.get $at)) (local.get $end)))

(func $is_output_valid (param $at i32) (param $len i32) (result i32)
  (if (i32.eqz (i32.load $staging offset=@validates (i32.const 0))) (then (return (i32.const 1))))
  (call $v_validate_event (local.get $at) (local.get $len)))

;; Kind 0: one event.
(func $emit_one (param $ptr i32) (param $len i32) (result i32)
  (local $used i32) (local $n i32) (local $at i32)
  (local.set $used (i32.load $staging offset=@output_bytes (i32.const 0)))
  (local.set $n (i32.load $staging offset=@output_events (i32.const 0)))
  (if (i32.ge_u (local.get $n) (i32.load $staging offset=@output_events_capacity (i32.const 0)))
    (then (return (call $no_room (i32.const 0)))))
  (if (i32.gt_u
        (local.get $len)
        (i32.sub (i32.load $staging offset=@output_capacity (i32.const 0)) (local.get $used)))
    (then (return (call $no_room (local.get $len)))))
  (local.set $at (i32.add (i32.load $staging offset=@output_address (i32.const 0)) (local.get $used)))
  (memory.copy $staging $guest (local.get $at) (local.get $ptr) (local.get $len))
  (if (i32.eqz (call $is_output_valid (local.get $at) (local.get $len)))
    (then (return (call $fail (i32.const 10)))))
  (call $write_entry (local.get $n) (call $current_row) (i32.add (local.get $used) (local.get $len)))
  (call $finish (i32.add (local.get $n) (i32.const 1)) (i32.add (local.get $used) (local.get $len))))

;; Kind 1: several events, each behind its length as a varint. The stream is copied out whole and then closed up in
;; place, so that the output holds the events without their prefixes.
(func $emit_several (param $ptr i32) (param $len i32) (result i32)
  (local $used i32) (local $n i32) (local $first i32) (local $from i32) (local $end i32) (local $to i32)
  (local $size i64) (local $row i32) (local $base i32)
  (local.set $used (i32.load $staging offset=@output_bytes (i32.const 0)))
  (local.set $n (i32.load $staging offset=@output_events (i32.const 0)))
  (local.set $first (local.get $n))
  (local.set $row (call $current_row))
  (if (i32.gt_u
        (local.get $len)
        (i32.sub (i32.load $staging offset=@output_capacity (i32.const 0)) (local.get $used)))
    (then (return (call $no_room (local.get $len)))))
  (local.set $base (i32.load $staging offset=@output_address (i32.const 0)))
  (local.set $from (i32.add (local.get $base) (local.get $used)))
  (local.set $to (local.get $from))
  (local.set $end (i32.add (local.get $from) (local.get $len)))
  (memory.copy $staging $guest (local.get $from) (local.get $ptr) (local.get $len))
  (block $done
    (loop $next
      (br_if $done (i32.ge_u (local.get $from) (local.get $end)))
      (if (i32.ge_u
            (i32.sub (local.get $n) (local.get $first))
            (i32.load $staging offset=@max_output_events (i32.const 0)))
        (then (return (call $fail (i32.const 9)))))
      (if (i32.ge_u (local.get $n) (i32.load $staging offset=@output_events_capacity (i32.const 0)))
        (then (return (call $no_room (i32.const 0)))))
      (call $v_varint (local.get $from) (local.get $end))
      (local.set $from)
      (local.set $size)
      (if (i32.eqz (local.get $from)) (then (return (call $fail (i32.const 11)))))
      (if (i64.gt_u (local.get $size) (i64.extend_i32_u (i32.sub (local.get $end) (local.get $from))))
        (then (return (call $fail (i32.const 11)))))
      (memory.copy $staging $staging (local.get $to) (local.get $from) (i32.wrap_i64 (local.get $size)))
      (if (i32.eqz (call $is_output_valid (local.get $to) (i32.wrap_i64 (local.get $size))))
        (then (return (call $fail (i32.const 10)))))
      (local.set $from (i32.add (local.get $from) (i32.wrap_i64 (local.get $size))))
      (local.set $to (i32.add (local.get $to) (i32.wrap_i64 (local.get $size))))
      (call $write_entry (local.get $n) (local.get $row) (i32.sub (local.get $to) (local.get $base)))
      (local.set $n (i32.add (local.get $n) (i32.const 1)))
      (br $next)))
  (call $finish (local.get $n) (i32.sub (local.get $to) (local.get $base))))

;; Kind 2: the guest fails the event itself and goes on. A record in the failure buffer: row (i32), bytes of the whole
;; message (i32), bytes stored (i32), the bytes.
;;
;; A guest that has leaked its memory full may well answer "out of memory" here. The law wants the answer of a fresh
;; instance, so where that is possible (confirm_pages) the event is tried again, unless it was the first of one.
(func $emit_failure (param $ptr i32) (param $len i32) (result i32)
  (local $used i32) (local $kept i32) (local $at i32)
  (if (i32.ge_u (memory.size $guest) (i32.load $staging offset=@confirm_pages (i32.const 0)))
    (then
      (if (i32.eqz
            (i32.and
              (i32.load $staging offset=@is_fresh (i32.const 0))
              (i32.eq
                (i32.load $staging offset=@index (i32.const 0))
                (i32.load $staging offset=@first (i32.const 0)))))
        (then (return (call $fail (i32.const 1)))))))
  (local.set $kept (local.get $len))
  (if (i32.gt_u (local.get $kept) (i32.load $staging offset=@max_message_bytes (i32.const 0)))
    (then (local.set $kept (i32.load $staging offset=@max_message_bytes (i32.const 0)))))
  (local.set $used (i32.load $staging offset=@failure_bytes (i32.const 0)))
  (if (i32.gt_u
        (i32.add (i32.add (local.get $used) (i32.const 12)) (local.get $kept))
        (i32.load $staging offset=@failure_capacity (i32.const 0)))
    (then (return (call $no_room (i32.const 0)))))
  (local.set $at (i32.add (i32.load $staging offset=@failure_address (i32.const 0)) (local.get $used)))
  (i32.store $staging (local.get $at) (call $current_row))
  (i32.store $staging offset=4 (local.get $at) (local.get $len))
  (i32.store $staging offset=8 (local.get $at) (local.get $kept))
  (memory.copy $staging $guest (i32.add (local.get $at) (i32.const 12)) (local.get $ptr) (local.get $kept))
  (i32.store $staging offset=@stage (i32.const 0) (i32.const 4))
  (if (local.get $len)
    (then
      (call $dealloc (local.get $ptr) (i32.load $staging offset=@answer_block_bytes (i32.const 0)))))
  (global.set $next_failure_bytes (i32.add (local.get $used) (i32.add (i32.const 12) (local.get $kept))))
  (i32.const 0))

;; A null goes through untouched: the sign bit of its row says so.
(func $emit_null (result i32)
  (local $n i32)
  (local.set $n (i32.load $staging offset=@output_events (i32.const 0)))
  (if (i32.ge_u (local.get $n) (i32.load $staging offset=@output_events_capacity (i32.const 0)))
    (then
      (i32.store $staging offset=@bytes_wanted (i32.const 0) (i32.const 0))
      (return (i32.const 1))))
  (call $write_entry
    (local.get $n)
    (i32.or (call $current_row) (i32.const 0x80000000))
    (i32.load $staging offset=@output_bytes (i32.const 0)))
  (global.set $next_output_events (i32.add (local.get $n) (i32.const 1)))
  (i32.const 0))

(func $emit_answer (result i32)
  (local $kind i32) (local $ptr i32) (local $len i32)
  (local.set $kind (i32.load $staging offset=@answer_kind (i32.const 0)))
  (local.set $ptr (i32.load $staging offset=@answer_ptr (i32.const 0)))
  (local.set $len (i32.load $staging offset=@answer_bytes (i32.const 0)))
  (if (i32.eq (local.get $kind) (i32.const 2))
    (then (return (call $emit_failure (local.get $ptr) (local.get $len)))))
  (if (i32.gt_u (local.get $len) (i32.load $staging offset=@max_output_bytes (i32.const 0)))
    (then (return (call $fail (i32.const 8)))))
  (if (result i32) (local.get $kind)
    (then (call $emit_several (local.get $ptr) (local.get $len)))
    (else (call $emit_one (local.get $ptr) (local.get $len)))))
