;; The batch loop: one event after the other through the guest's exports, all inside WebAssembly.
;;
;; `stage` names the export that was entered last, for the message when it traps:
;; 1 alloc, 2 transform, 3 dealloc of the input, 4 dealloc of the answer; 11 _initialize, 12 version, 13 alloc for the
;; configuration, 14 init, 15 dealloc of the configuration, 16 shutdown.

(elem declare func $log $record_metric $get_metric $abort)

;; Puts the real functions behind the guest's imports. What a start function tried to log before this is lost.
(func $attach
  (i32.store $staging offset=@log_lines_lost (i32.const 0) (global.get $early_calls))
  (table.set $attached (i32.const 0) (ref.func $log))
  (table.set $attached (i32.const 1) (ref.func $record_metric))
  (table.set $attached (i32.const 2) (ref.func $get_metric))
  (table.set $attached (i32.const 3) (ref.func $abort)))
(start $attach)

(func $enter (param $stage i32)
  (i32.store $staging offset=@stage (i32.const 0) (local.get $stage)))

;; Brings a new instance up. Returns 0, or 1 (wrong version), 2 (alloc gave no usable block), 3 (init refused);
;; `detail` then holds the version, the pointer or the status that was seen.
(func (export "start") (result i32)
  (local $ptr i32) (local $len i32) (local $seen i32)
  (call $enter (i32.const 11))
  (call $initialize)
  (call $enter (i32.const 12))
  (local.set $seen (call $version))
  (i32.store $staging offset=@detail (i32.const 0) (local.get $seen))
  (if (i32.ne (local.get $seen) (i32.load $staging offset=@expected_version (i32.const 0)))
    (then (return (i32.const 1))))
  (if (i32.eqz (i32.load $staging offset=@has_init (i32.const 0))) (then (return (i32.const 0))))
  (local.set $len (i32.load $staging offset=@config_bytes (i32.const 0)))
  (call $enter (i32.const 13))
  (local.set $ptr (call $alloc (local.get $len)))
  (i32.store $staging offset=@detail (i32.const 0) (local.get $ptr))
  (if (i32.eqz (local.get $ptr)) (then (return (i32.const 2))))
  (if (i32.eqz (call $in_guest (local.get $ptr) (local.get $len))) (then (return (i32.const 2))))
  (memory.copy $guest $staging
    (local.get $ptr) (i32.load $staging offset=@config_address (i32.const 0)) (local.get $len))
  (call $enter (i32.const 14))
  (local.set $seen (call $init (local.get $ptr) (local.get $len)))
  (call $enter (i32.const 15))
  (call $dealloc (local.get $ptr) (local.get $len))
  (call $commit_metrics)
  (i32.store $staging offset=@detail (i32.const 0) (local.get $seen))
  (select (i32.const 3) (i32.const 0) (local.get $seen)))

(func (export "stop") (result i32)
  (local $status i32)
  (call $enter (i32.const 16))
  (local.set $status (call $shutdown))
  (call $commit_metrics)
  (local.get $status))

;; True when the validity bitmap says that event i is null.
(func $is_null (param $i i32) (result i32)
  (local $bit i32)
  (local.set $bit (i32.add (local.get $i) (i32.load $staging offset=@validity_bit (i32.const 0))))
  (i32.eqz
    (i32.and
      (i32.shr_u
        (i32.load8_u $staging
          (i32.add
            (i32.load $staging offset=@validity_address (i32.const 0))
            (i32.shr_u (local.get $bit) (i32.const 3))))
        (i32.and (local.get $bit) (i32.const 7)))
      (i32.const 1))))

;; Reads the packed answer, checks where it points, takes the input back, and hands the answer on.
(func $settle (param $answer i64) (param $input i32) (param $input_len i32) (result i32)
  (local $kind i32) (local $ptr i32) (local $len i32)
  (if (i64.eqz (local.get $answer))
    (then
      (call $enter (i32.const 3))
      (call $dealloc (local.get $input) (local.get $input_len))
      (return (i32.const 0))))
  (local.set $len (i32.wrap_i64 (local.get $answer)))
  (local.set $ptr (i32.wrap_i64 (i64.shr_u (local.get $answer) (i64.const 32))))
  (if (i32.load $staging offset=@has_kinds (i32.const 0))
    (then
      (local.set $kind (i32.shr_u (local.get $ptr) (i32.const 30)))
      (local.set $ptr (i32.and (local.get $ptr) (i32.const 0x3fffffff)))))
  (if (i32.eq (local.get $kind) (i32.const 3)) (then (return (call $fail (i32.const 6)))))
  (if (i32.or (i32.eqz (local.get $ptr)) (i32.eqz (local.get $len)))
    (then
      ;; A failure without a message is an answer; an event without bytes is not.
      (if (i32.ne (local.get $kind) (i32.const 2)) (then (return (call $fail (i32.const 7)))))
      (local.set $len (i32.const 0))))
  (i32.store $staging offset=@answer_kind (i32.const 0) (local.get $kind))
  (i32.store $staging offset=@answer_ptr (i32.const 0) (local.get $ptr))
  (i32.store $staging offset=@answer_bytes (i32.const 0) (local.get $len))
  (if (i32.eqz (call $in_guest (local.get $ptr) (local.get $len)))
    (then (return (call $fail (i32.const 4)))))
  (i32.store $staging offset=@answer_block_bytes (i32.const 0) (local.get $len))
  (if (i32.and
        (i32.and
          (i32.lt_u (local.get $ptr) (i32.add (local.get $input) (local.get $input_len)))
          (i32.lt_u (local.get $input) (i32.add (local.get $ptr) (local.get $len))))
        (i32.ne (local.get $len) (i32.const 0)))
    (then
      ;; The input's own block may be handed back whole: it is then read and freed once, with the size it was made.
      (if (i32.or
            (i32.ne (local.get $ptr) (local.get $input))
            (i32.gt_u (local.get $len) (local.get $input_len)))
        (then (return (call $fail (i32.const 5)))))
      (i32.store $staging offset=@answer_block_bytes (i32.const 0) (local.get $input_len)))
    (else
      (call $enter (i32.const 3))
      (call $dealloc (local.get $input) (local.get $input_len))))
  (call $emit_answer))

;; One event, from its bytes in the staging memory to its outcome.
(func $one (param $from i32) (param $len i32) (result i32)
  (local $ptr i32) (local $answer i64)
  (call $enter (i32.const 1))
  (local.set $ptr (call $alloc (local.get $len)))
  (if (i32.eqz (local.get $ptr)) (then (return (call $fail (i32.const 2)))))
  (if (i32.eqz (call $in_guest (local.get $ptr) (local.get $len)))
    (then
      (i32.store $staging offset=@answer_ptr (i32.const 0) (local.get $ptr))
      (i32.store $staging offset=@answer_bytes (i32.const 0) (local.get $len))
      (return (call $fail (i32.const 3)))))
  (memory.copy $guest $staging (local.get $ptr) (local.get $from) (local.get $len))
  (call $enter (i32.const 2))
  (local.set $answer (call $transform (local.get $ptr) (local.get $len)))
  (call $settle (local.get $answer) (local.get $ptr) (local.get $len)))

;; Runs events [index, count) of the chunk that lies in the staging memory. Returns 0 when they are done, 1 when the
;; output is full, 2 when event `index` failed with `failure_code`.
;;
;; Fuel can run out in the driver as well as in the guest: at the entry of a function and at the head of a loop. So an
;; event becomes settled in one block of plain stores, which has neither. A run that ends before it has not seen the
;; event; a run that ends behind it goes on with the next one.
(func (export "run") (result i32)
  (local $i i32) (local $count i32) (local $at i32) (local $status i32)
  (local.set $i (i32.load $staging offset=@index (i32.const 0)))
  (local.set $count (i32.load $staging offset=@count (i32.const 0)))
  (block $done
    (loop $next
      (br_if $done (i32.ge_u (local.get $i) (local.get $count)))
      (global.set $next_output_events (i32.load $staging offset=@output_events (i32.const 0)))
      (global.set $next_output_bytes (i32.load $staging offset=@output_bytes (i32.const 0)))
      (global.set $next_failure_bytes (i32.load $staging offset=@failure_bytes (i32.const 0)))
      (block $ended
        (if (i32.load $staging offset=@answer_waits (i32.const 0))
          (then
            (i32.store $staging offset=@answer_waits (i32.const 0) (i32.const 0))
            (local.set $status (call $emit_answer))
            (br $ended)))
        (i32.store $staging offset=@last_line_bytes (i32.const 0) (i32.const 0))
        (if (i32.load $staging offset=@validity_address (i32.const 0))
          (then
            (if (call $is_null (local.get $i))
              (then
                (local.set $status (call $emit_null))
                (br $ended)))))
        (local.set $at
          (i32.add
            (i32.load $staging offset=@offsets_address (i32.const 0))
            (i32.shl (local.get $i) (i32.const 2))))
        (local.set $status
          (call $one
            (i32.add (i32.load $staging offset=@input_address (i32.const 0)) (i32.load $staging (local.get $at)))
            (i32.sub (i32.load $staging offset=4 (local.get $at)) (i32.load $staging (local.get $at))))))
      (if (local.get $status) (then (return (local.get $status))))
      ;; Settled: its output counts, and what it said can no longer be taken back.
      (local.set $i (i32.add (local.get $i) (i32.const 1)))
      (i32.store $staging offset=@index (i32.const 0) (local.get $i))
      (i32.store $staging offset=@output_events (i32.const 0) (global.get $next_output_events))
      (i32.store $staging offset=@output_bytes (i32.const 0) (global.get $next_output_bytes))
      (i32.store $staging offset=@failure_bytes (i32.const 0) (global.get $next_failure_bytes))
      (i32.store $staging offset=@log_mark (i32.const 0) (i32.load $staging offset=@log_bytes (i32.const 0)))
      (i32.store $staging offset=@log_lines_lost_mark (i32.const 0)
        (i32.load $staging offset=@log_lines_lost (i32.const 0)))
      (i32.store $staging offset=@metrics_lost_mark (i32.const 0)
        (i32.load $staging offset=@metrics_lost (i32.const 0)))
      (i32.store $staging offset=@pending_counts (i32.const 0)
        (i32.load $staging offset=@touched_metrics (i32.const 0)))
      ;; This one has a loop; should it be cut short, the host adds up the rest because of `pending_counts`.
      (if (i32.load $staging offset=@touched_metrics (i32.const 0)) (then (call $commit_metrics)))
      (br $next)))
  (i32.const 0))
