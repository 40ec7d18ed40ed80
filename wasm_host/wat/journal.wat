;; env.log and env.abort: bounded, never failing, never leaving wasm.
;;
;; A record in the log buffer: row (i32), level (i32), bytes stored (i32), the bytes. What does not fit is counted as
;; lost. The last line is kept apart as well, whatever the buffer holds: it becomes part of the failure when the guest
;; traps, and a flood of earlier lines must not push it out.

(func $remember_last (param $ptr i32) (param $len i32)
  (i32.store $staging offset=@last_line_bytes (i32.const 0) (local.get $len))
  (memory.copy $staging $guest
    (i32.load $staging offset=@last_line_address (i32.const 0)) (local.get $ptr) (local.get $len)))

(func $lose_line
  (i32.store $staging offset=@log_lines_lost (i32.const 0)
    (i32.add (i32.load $staging offset=@log_lines_lost (i32.const 0)) (i32.const 1))))

(func $log (param $level i32) (param $ptr i32) (param $len i32)
  (local $used i32) (local $at i32) (local $line_cap i32)
  (if (i32.eqz (call $in_guest (local.get $ptr) (local.get $len)))
    (then (call $lose_line) (return)))
  (local.set $line_cap (i32.load $staging offset=@line_capacity (i32.const 0)))
  (if (i32.gt_u (local.get $len) (local.get $line_cap))
    (then (local.set $len (local.get $line_cap))))
  (call $remember_last (local.get $ptr) (local.get $len))
  (local.set $used (i32.load $staging offset=@log_bytes (i32.const 0)))
  (if (i32.gt_u
        (i32.add (i32.add (local.get $used) (i32.const 12)) (local.get $len))
        (i32.load $staging offset=@log_capacity (i32.const 0)))
    (then (call $lose_line) (return)))
  (local.set $at (i32.add (i32.load $staging offset=@log_address (i32.const 0)) (local.get $used)))
  (i32.store $staging (local.get $at) (call $current_row))
  (i32.store $staging offset=4 (local.get $at) (local.get $level))
  (i32.store $staging offset=8 (local.get $at) (local.get $len))
  (memory.copy $staging $guest (i32.add (local.get $at) (i32.const 12)) (local.get $ptr) (local.get $len))
  (i32.store $staging offset=@log_bytes (i32.const 0)
    (i32.add (local.get $used) (i32.add (i32.const 12) (local.get $len)))))

;; The row of the whole batch that is under way; -1 outside of a run (while the guest is initialised).
(func $current_row (result i32)
  (if (result i32) (i32.load $staging offset=@running (i32.const 0))
    (then
      (i32.add
        (i32.load $staging offset=@row_base (i32.const 0))
        (i32.load $staging offset=@index (i32.const 0))))
    (else (i32.const -1))))

;; An AssemblyScript string is UTF-16 behind a header whose last word is its length in bytes. The bytes are kept as
;; they are and the host decodes them. The trampoline traps after this returns.
(func $abort (param $message i32) (param $file i32) (param $line i32) (param $column i32)
  (local $len i32) (local $line_cap i32)
  (i32.store $staging offset=@aborted (i32.const 0) (i32.const 1))
  (i32.store $staging offset=@abort_line (i32.const 0) (local.get $line))
  (i32.store $staging offset=@abort_column (i32.const 0) (local.get $column))
  (i32.store $staging offset=@last_line_bytes (i32.const 0) (i32.const 0))
  (br_if 0 (i32.lt_u (local.get $message) (i32.const 4)))
  (br_if 0 (i32.eqz (call $in_guest (i32.sub (local.get $message) (i32.const 4)) (i32.const 4))))
  (local.set $len (i32.load $guest (i32.sub (local.get $message) (i32.const 4))))
  (br_if 0 (i32.eqz (call $in_guest (local.get $message) (local.get $len))))
  (local.set $line_cap (i32.load $staging offset=@line_capacity (i32.const 0)))
  (if (i32.gt_u (local.get $len) (local.get $line_cap))
    (then (local.set $len (local.get $line_cap))))
  (call $remember_last (local.get $message) (local.get $len)))
