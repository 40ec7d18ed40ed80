;; Length-delimited streams: a varint length before each message. Split into Arrow's layout (messages back to back, and an
;; array of offsets) and joined again, a chunk at a time. Python would need a microsecond a message; this needs nanoseconds.
(module
  (memory (export "memory") 1)
  ;; Where the first frame begins that was not taken, and how many bytes that frame needs in all (0: not yet known).
  (global $next (export "next") (mut i32) (i32.const 0))
  (global $needs (export "needs") (mut i64) (i64.const 0))
  ;; Set when a length is longer than five bytes: this is no length-delimited stream.
  (global $malformed (export "malformed") (mut i32) (i32.const 0))

  ;; Moves the messages of [at, end) together, beginning at `at`, and writes where each ends; returns how many.
  (func (export "split") (param $at i32) (param $end i32) (param $offsets i32) (param $most i32) (result i32)
    (local $read i32) (local $start i32) (local $write i32) (local $base i32)
    (local $size i64) (local $shift i64) (local $byte i64) (local $count i32)
    (local.set $read (local.get $at))
    (local.set $write (local.get $at))
    (local.set $base (local.get $at))
    (global.set $needs (i64.const 0))
    (global.set $malformed (i32.const 0))
    (i32.store (local.get $offsets) (i32.const 0))
    (block $done
      (loop $frame
        (br_if $done (i32.ge_u (local.get $count) (local.get $most)))
        (local.set $start (local.get $read))
        (local.set $size (i64.const 0))
        (local.set $shift (i64.const 0))
        (block $have_size
          (loop $varint
            (if (i32.ge_u (local.get $read) (local.get $end))
              (then (local.set $read (local.get $start)) (br $done)))
            (local.set $byte (i64.load8_u (local.get $read)))
            (local.set $read (i32.add (local.get $read) (i32.const 1)))
            (local.set $size
              (i64.or (local.get $size) (i64.shl (i64.and (local.get $byte) (i64.const 127)) (local.get $shift))))
            (br_if $have_size (i64.lt_u (local.get $byte) (i64.const 128)))
            (local.set $shift (i64.add (local.get $shift) (i64.const 7)))
            (if (i64.gt_u (local.get $shift) (i64.const 28))
              (then
                (global.set $malformed (i32.const 1))
                (local.set $read (local.get $start))
                (br $done)))
            (br $varint)))
        (if (i64.gt_u (local.get $size) (i64.extend_i32_u (i32.sub (local.get $end) (local.get $read))))
          (then
            (global.set $needs
              (i64.add (local.get $size) (i64.extend_i32_u (i32.sub (local.get $read) (local.get $start)))))
            (local.set $read (local.get $start))
            (br $done)))
        (memory.copy (local.get $write) (local.get $read) (i32.wrap_i64 (local.get $size)))
        (local.set $read (i32.add (local.get $read) (i32.wrap_i64 (local.get $size))))
        (local.set $write (i32.add (local.get $write) (i32.wrap_i64 (local.get $size))))
        (local.set $count (i32.add (local.get $count) (i32.const 1)))
        (i32.store
          (i32.add (local.get $offsets) (i32.shl (local.get $count) (i32.const 2)))
          (i32.sub (local.get $write) (local.get $base)))
        (br $frame)))
    (global.set $next (local.get $read))
    (local.get $count))

  ;; Writes `count` messages with their lengths; `data` holds position 0 of the offsets. Returns the bytes written.
  (func (export "join") (param $data i32) (param $offsets i32) (param $count i32) (param $out i32) (result i32)
    (local $index i32) (local $from i32) (local $to i32) (local $size i32) (local $write i32)
    (local.set $write (local.get $out))
    (local.set $from (i32.load (local.get $offsets)))
    (block $done
      (loop $message
        (br_if $done (i32.ge_u (local.get $index) (local.get $count)))
        (local.set $index (i32.add (local.get $index) (i32.const 1)))
        (local.set $to (i32.load (i32.add (local.get $offsets) (i32.shl (local.get $index) (i32.const 2)))))
        (local.set $size (i32.sub (local.get $to) (local.get $from)))
        (block $last_byte
          (loop $varint
            (br_if $last_byte (i32.lt_u (local.get $size) (i32.const 128)))
            (i32.store8 (local.get $write) (i32.or (i32.and (local.get $size) (i32.const 127)) (i32.const 128)))
            (local.set $write (i32.add (local.get $write) (i32.const 1)))
            (local.set $size (i32.shr_u (local.get $size) (i32.const 7)))
            (br $varint)))
        (i32.store8 (local.get $write) (local.get $size))
        (local.set $write (i32.add (local.get $write) (i32.const 1)))
        (memory.copy (local.get $write) (i32.add (local.get $data) (local.get $from))
          (i32.sub (local.get $to) (local.get $from)))
        (local.set $write (i32.add (local.get $write) (i32.sub (local.get $to) (local.get $from))))
        (local.set $from (local.get $to))
        (br $message)))
    (i32.sub (local.get $write) (local.get $out))))
