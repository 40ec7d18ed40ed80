;; A WASI that is the same for everybody, always: no files, no environment, one instant, one sequence of "random" bytes.
;;
;; Go's guests cannot start without these functions. Each is a pure function of its arguments, so that the same event
;; gives the same answer on every machine and in every batch; the only effect is that text written to stdout and stderr
;; becomes log lines. Pointers outside the guest's memory trap, as in any guest code.
;;
;; wasi.py puts the list of functions into `$attached`, in the order of WASI_IMPORTS, and fills in `@name` (the offset
;; of a field of the driver's state block). Numbers of WASI: errno 8 badf, 28 inval, 70 spipe.

(import "guest" "memory" (memory $guest 0))
(import "driver" "staging" (memory $staging 1))

;; The log record that unfinished text goes to: who wrote it, its address, and where it ends in the log.
(global $open_fd (mut i32) (i32.const 0))
(global $open_at (mut i32) (i32.const 0))
(global $open_end (mut i32) (i32.const 0))
;; The unfinished text that the last line holds: who wrote it, and how long it is.
(global $last_fd (mut i32) (i32.const 0))
(global $last_end (mut i32) (i32.const 0))
;; The row whose last line is settled: it says why the guest gives up, and the stack trace below must not replace it.
(global $verdict_row (mut i64) (i64.const -2))

(func $store_zeros (param $first i32) (param $second i32) (result i32)
  (i32.store $guest (local.get $first) (i32.const 0))
  (i32.store $guest (local.get $second) (i32.const 0))
  (i32.const 0))

(func $args_get (param i32 i32) (result i32) (i32.const 0))
(func $args_sizes_get (param $count i32) (param $bytes i32) (result i32)
  (call $store_zeros (local.get $count) (local.get $bytes)))
(func $environ_get (param i32 i32) (result i32) (i32.const 0))
(func $environ_sizes_get (param $count i32) (param $bytes i32) (result i32)
  (call $store_zeros (local.get $count) (local.get $bytes)))

;; Every clock stands at 2001-09-09T01:46:40Z. Not at zero: Go takes a monotonic clock of zero for a broken one.
(func $clock_time_get (param $clock i32) (param $precision i64) (param $time i32) (result i32)
  (if (i32.gt_u (local.get $clock) (i32.const 3)) (then (return (i32.const 28))))
  (i64.store $guest (local.get $time) (i64.const 1000000000000000000))
  (i32.const 0))
(func $clock_res_get (param $clock i32) (param $resolution i32) (result i32)
  (if (i32.gt_u (local.get $clock) (i32.const 3)) (then (return (i32.const 28))))
  (i64.store $guest (local.get $resolution) (i64.const 1))
  (i32.const 0))

;; Byte i is the same in every call, so that an event's answer does not depend on how many came before it.
(func $random_get (param $ptr i32) (param $len i32) (result i32)
  (local $i i32) (local $mixed i32)
  (block $done
    (loop $more
      (br_if $done (i32.ge_u (local.get $i) (local.get $len)))
      (local.set $mixed (i32.mul (i32.add (local.get $i) (i32.const 1)) (i32.const 0x9e3779b9)))
      (local.set $mixed
        (i32.mul
          (i32.xor (local.get $mixed) (i32.shr_u (local.get $mixed) (i32.const 16)))
          (i32.const 0x85ebca6b)))
      (i32.store8 $guest
        (i32.add (local.get $ptr) (local.get $i))
        (i32.shr_u (local.get $mixed) (i32.const 24)))
      (local.set $i (i32.add (local.get $i) (i32.const 1)))
      (br $more)))
  (i32.const 0))

(func $sched_yield (result i32) (i32.const 0))
;; Every wait is over at once: clocks do not move, and there are no files to wait for. A subscription has 48 bytes
;; (userdata, then the type at 8), an event has 32 (userdata, errno at 8, type at 10). Go's runtime sleeps in a panic.
(func $poll_oneoff (param $subscriptions i32) (param $events i32) (param $count i32) (param $written i32) (result i32)
  (local $type i32)
  (if (i32.eqz (local.get $count)) (then (return (i32.const 28))))
  (i32.store $guest (local.get $written) (local.get $count))
  (loop $next
    (local.set $type (i32.load8_u $guest offset=8 (local.get $subscriptions)))
    (i64.store $guest (local.get $events) (i64.load $guest (local.get $subscriptions)))
    (i64.store $guest offset=8 (local.get $events)
      (i64.extend_i32_u
        (i32.or
          (i32.shl (local.get $type) (i32.const 16))
          (select (i32.const 8) (i32.const 0) (local.get $type)))))
    (i64.store $guest offset=16 (local.get $events) (i64.const 0))
    (i64.store $guest offset=24 (local.get $events) (i64.const 0))
    (local.set $subscriptions (i32.add (local.get $subscriptions) (i32.const 48)))
    (local.set $events (i32.add (local.get $events) (i32.const 32)))
    (local.set $count (i32.sub (local.get $count) (i32.const 1)))
    (br_if $next (local.get $count)))
  (i32.const 0))
;; There is no process to end: the guest traps, with its exit status as its last words if it has none of its own.
(func $proc_exit (param $status i32)
  (if (i32.eqz (i32.load $staging offset=@last_line_bytes (i32.const 0)))
    (then (call $say_exit_status (local.get $status))))
  (unreachable))

(data $exit_status "exit status ")
(func $say_exit_status (param $status i32)
  (local $at i32) (local $rest i32) (local $end i32)
  ;; 12 bytes and at most 10 digits
  (br_if 0 (i32.lt_u (i32.load $staging offset=@line_capacity (i32.const 0)) (i32.const 22)))
  (local.set $at (i32.load $staging offset=@last_line_address (i32.const 0)))
  (memory.init $staging $exit_status (local.get $at) (i32.const 0) (i32.const 12))
  (local.set $end (i32.add (local.get $at) (i32.const 12)))
  (local.set $rest (local.get $status))
  (loop $count
    (local.set $end (i32.add (local.get $end) (i32.const 1)))
    (local.set $rest (i32.div_u (local.get $rest) (i32.const 10)))
    (br_if $count (local.get $rest)))
  (i32.store $staging offset=@last_line_bytes (i32.const 0) (i32.sub (local.get $end) (local.get $at)))
  (loop $digit
    (local.set $end (i32.sub (local.get $end) (i32.const 1)))
    (i32.store8 $staging (local.get $end)
      (i32.add (i32.const 48) (i32.rem_u (local.get $status) (i32.const 10))))
    (local.set $status (i32.div_u (local.get $status) (i32.const 10)))
    (br_if $digit (local.get $status))))

(func $is_output (param $fd i32) (result i32)
  (i32.lt_u (i32.sub (local.get $fd) (i32.const 1)) (i32.const 2)))

(func $fd_read (param i32 i32 i32 i32) (result i32) (i32.const 8))
(func $fd_close (param i32) (result i32) (i32.const 8))
(func $fd_prestat_get (param i32 i32) (result i32) (i32.const 8))
(func $fd_prestat_dir_name (param i32 i32 i32) (result i32) (i32.const 8))
(func $fd_fdstat_set_flags (param i32 i32) (result i32) (i32.const 8))
(func $fd_seek (param $fd i32) (param i64 i32 i32) (result i32)
  (select (i32.const 70) (i32.const 8) (call $is_output (local.get $fd))))
;; Outputs look like a terminal that can be written (right 6), so that C's stdio ends each line with a write.
(func $fd_fdstat_get (param $fd i32) (param $stat i32) (result i32)
  (if (i32.eqz (call $is_output (local.get $fd))) (then (return (i32.const 8))))
  (i64.store $guest (local.get $stat) (i64.const 2))
  (i64.store $guest offset=8 (local.get $stat) (i64.const 64))
  (i64.store $guest offset=16 (local.get $stat) (i64.const 0))
  (i32.const 0))

(func $fd_write (param $fd i32) (param $vectors i32) (param $count i32) (param $written i32) (result i32)
  (local $total i32) (local $len i32)
  (if (i32.eqz (call $is_output (local.get $fd))) (then (return (i32.const 8))))
  (block $done
    (loop $next
      (br_if $done (i32.eqz (local.get $count)))
      (local.set $len (i32.load $guest offset=4 (local.get $vectors)))
      (call $write_text (local.get $fd) (i32.load $guest (local.get $vectors)) (local.get $len))
      (local.set $total (i32.add (local.get $total) (local.get $len)))
      (local.set $vectors (i32.add (local.get $vectors) (i32.const 8)))
      (local.set $count (i32.sub (local.get $count) (i32.const 1)))
      (br $next)))
  (i32.store $guest (local.get $written) (local.get $total))
  (i32.const 0))

;; Cuts text at its line ends.
(func $write_text (param $fd i32) (param $ptr i32) (param $len i32)
  (local $n i32)
  (block $done
    (loop $line
      (local.set $n (i32.const 0))
      (block $found
        (loop $scan
          (if (i32.eq (local.get $n) (local.get $len))
            (then
              (call $write_part (local.get $fd) (local.get $ptr) (local.get $n))
              (br $done)))
          (br_if $found (i32.eq (i32.load8_u $guest (i32.add (local.get $ptr) (local.get $n))) (i32.const 10)))
          (local.set $n (i32.add (local.get $n) (i32.const 1)))
          (br $scan)))
      (call $write_part (local.get $fd) (local.get $ptr) (local.get $n))
      (call $end_line)
      (local.set $n (i32.add (local.get $n) (i32.const 1)))
      (local.set $ptr (i32.add (local.get $ptr) (local.get $n)))
      (local.set $len (i32.sub (local.get $len) (local.get $n)))
      (br $line))))

(func $current_row (result i32)
  (if (result i32) (i32.load $staging offset=@running (i32.const 0))
    (then
      (i32.add
        (i32.load $staging offset=@row_base (i32.const 0))
        (i32.load $staging offset=@index (i32.const 0))))
    (else (i32.const -1))))

;; Whether text of this file can go on where the last record ends: nothing was logged since, and the row is the same.
(func $is_open (param $fd i32) (result i32)
  (if (i32.ne (global.get $open_fd) (local.get $fd)) (then (return (i32.const 0))))
  (if (i32.ne (global.get $open_end) (i32.load $staging offset=@log_bytes (i32.const 0)))
    (then (return (i32.const 0))))
  (i32.eq (i32.load $staging (global.get $open_at)) (call $current_row)))

;; Starts an empty record. When the log is full there is none, and a line that begins is counted as lost.
(func $open_line (param $fd i32) (param $is_new i32)
  (local $used i32)
  (local.set $used (i32.load $staging offset=@log_bytes (i32.const 0)))
  (global.set $open_end (i32.add (local.get $used) (i32.const 12)))
  (if (i32.gt_u (global.get $open_end) (i32.load $staging offset=@log_capacity (i32.const 0)))
    (then
      (global.set $open_fd (i32.const 0))
      (i32.store $staging offset=@log_lines_lost (i32.const 0)
        (i32.add (i32.load $staging offset=@log_lines_lost (i32.const 0)) (local.get $is_new)))
      (return)))
  (global.set $open_fd (local.get $fd))
  (global.set $open_at (i32.add (i32.load $staging offset=@log_address (i32.const 0)) (local.get $used)))
  (i32.store $staging (global.get $open_at) (call $current_row))
  ;; stdout is info, stderr is error.
  (i32.store $staging offset=4 (global.get $open_at) (i32.shl (local.get $fd) (i32.const 1)))
  (i32.store $staging offset=8 (global.get $open_at) (i32.const 0))
  (i32.store $staging offset=@log_bytes (i32.const 0) (global.get $open_end)))

(func $min (param $a i32) (param $b i32) (result i32)
  (select (local.get $a) (local.get $b) (i32.lt_u (local.get $a) (local.get $b))))

;; Adds text to the line under way; what is beyond the longest line, or beyond the log, is cut.
(func $write_part (param $fd i32) (param $ptr i32) (param $len i32)
  (local $stored i32) (local $is_new i32)
  (br_if 0 (i32.eqz (local.get $len)))
  (local.set $is_new (call $extend_last_line (local.get $fd) (local.get $ptr) (local.get $len)))
  (if (i32.eqz (call $is_open (local.get $fd)))
    (then (call $open_line (local.get $fd) (local.get $is_new))))
  (br_if 0 (i32.eqz (global.get $open_fd)))
  (local.set $stored (i32.load $staging offset=8 (global.get $open_at)))
  (local.set $len
    (call $min (local.get $len)
      (call $min
        (i32.sub (i32.load $staging offset=@line_capacity (i32.const 0)) (local.get $stored))
        (i32.sub (i32.load $staging offset=@log_capacity (i32.const 0)) (global.get $open_end)))))
  (memory.copy $staging $guest
    (i32.add (i32.add (global.get $open_at) (i32.const 12)) (local.get $stored)) (local.get $ptr) (local.get $len))
  (i32.store $staging offset=8 (global.get $open_at) (i32.add (local.get $stored) (local.get $len)))
  (global.set $open_end (i32.add (global.get $open_end) (local.get $len)))
  (i32.store $staging offset=@log_bytes (i32.const 0) (global.get $open_end)))

;; Keeps the last line apart, as the driver's own log does, because it becomes part of a trap's message. Returns
;; whether a line begins here.
(func $extend_last_line (param $fd i32) (param $ptr i32) (param $len i32) (result i32)
  (local $kept i32) (local $is_new i32)
  (local.set $kept (i32.load $staging offset=@last_line_bytes (i32.const 0)))
  (local.set $is_new
    (i32.or
      (i32.ne (global.get $last_fd) (local.get $fd))
      (i32.ne (global.get $last_end) (local.get $kept))))
  (global.set $last_fd (local.get $fd))
  (if (i32.eqz (i64.eq (global.get $verdict_row) (i64.extend_i32_s (call $current_row))))
    (then
      (local.set $kept (select (i32.const 0) (local.get $kept) (local.get $is_new)))
      (local.set $len
        (call $min (local.get $len)
          (i32.sub (i32.load $staging offset=@line_capacity (i32.const 0)) (local.get $kept))))
      (memory.copy $staging $guest
        (i32.add (i32.load $staging offset=@last_line_address (i32.const 0)) (local.get $kept))
        (local.get $ptr)
        (local.get $len))
      (local.set $kept (i32.add (local.get $kept) (local.get $len)))
      (i32.store $staging offset=@last_line_bytes (i32.const 0) (local.get $kept))))
  (global.set $last_end (local.get $kept))
  (local.get $is_new))

;; Go says "panic: ..." or "fatal error: ..." and then prints its stacks.
(func $end_line
  (local $text i32)
  (global.set $open_fd (i32.const 0))
  (global.set $last_fd (i32.const 0))
  (local.set $text (i32.load $staging offset=@last_line_address (i32.const 0)))
  (if (i32.or
        (call $is_panic (local.get $text) (i32.load $staging offset=@last_line_bytes (i32.const 0)))
        (call $is_fatal_error (local.get $text) (i32.load $staging offset=@last_line_bytes (i32.const 0))))
    (then (global.set $verdict_row (i64.extend_i32_s (call $current_row))))))

(func $is_panic (param $text i32) (param $len i32) (result i32)
  (if (i32.lt_u (local.get $len) (i32.const 7)) (then (return (i32.const 0))))
  (i64.eq
    (i64.and (i64.load $staging (local.get $text)) (i64.const 0x00ff_ffff_ffff_ffff))
    (i64.const 0x0020_3a63_696e_6170))) ;; "panic: "

(func $is_fatal_error (param $text i32) (param $len i32) (result i32)
  (if (i32.lt_u (local.get $len) (i32.const 13)) (then (return (i32.const 0))))
  (i32.and
    (i64.eq (i64.load $staging (local.get $text)) (i64.const 0x7265_206c_6174_6166)) ;; "fatal er"
    (i64.eq
      (i64.load $staging offset=5 (local.get $text))
      (i64.const 0x203a_726f_7272_6520)))) ;; " error: "
