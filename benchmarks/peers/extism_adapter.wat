;; Runs a guest of ours, unchanged, as an Extism plugin: the host keeps input and output in a memory of its own, which a
;; plugin reads and writes eight bytes at a time. `configure` hands the input to the guest's init, `transform` runs one
;; event. An answer of several events is handed over as it is, a failure is the plugin's error.
(module
  (import "extism:host/env" "input_length" (func $input_length (result i64)))
  (import "extism:host/env" "input_load_u64" (func $input_u64 (param i64) (result i64)))
  (import "extism:host/env" "input_load_u8" (func $input_u8 (param i64) (result i32)))
  (import "extism:host/env" "alloc" (func $host_alloc (param i64) (result i64)))
  (import "extism:host/env" "store_u64" (func $store_u64 (param i64 i64)))
  (import "extism:host/env" "store_u8" (func $store_u8 (param i64 i32)))
  (import "extism:host/env" "output_set" (func $output_set (param i64 i64)))
  (import "guest" "memory" (memory 1))
  (import "guest" "alloc" (func $alloc (param i32) (result i32)))
  (import "guest" "dealloc" (func $dealloc (param i32 i32)))
  (import "guest" "transform" (func $transform (param i32 i32) (result i64)))
  (import "guest" "init" (func $init (param i32 i32) (result i32)))

  ;; Copy `size` bytes of the input, from `from`, to `to`.
  (func $read (param $from i64) (param $to i32) (param $size i32)
    (local $at i32)
    (block $words (loop $next
      (br_if $words (i32.gt_u (i32.add (local.get $at) (i32.const 8)) (local.get $size)))
      (i64.store (i32.add (local.get $to) (local.get $at))
        (call $input_u64 (i64.add (local.get $from) (i64.extend_i32_u (local.get $at)))))
      (local.set $at (i32.add (local.get $at) (i32.const 8)))
      (br $next)))
    (block $bytes (loop $next
      (br_if $bytes (i32.ge_u (local.get $at) (local.get $size)))
      (i32.store8 (i32.add (local.get $to) (local.get $at))
        (call $input_u8 (i64.add (local.get $from) (i64.extend_i32_u (local.get $at)))))
      (local.set $at (i32.add (local.get $at) (i32.const 1)))
      (br $next))))

  ;; Copy `size` bytes of the guest's memory to the host's block at `to`.
  (func $write (param $from i32) (param $to i64) (param $size i32)
    (local $at i32)
    (block $words (loop $next
      (br_if $words (i32.gt_u (i32.add (local.get $at) (i32.const 8)) (local.get $size)))
      (call $store_u64 (i64.add (local.get $to) (i64.extend_i32_u (local.get $at)))
        (i64.load (i32.add (local.get $from) (local.get $at))))
      (local.set $at (i32.add (local.get $at) (i32.const 8)))
      (br $next)))
    (block $bytes (loop $next
      (br_if $bytes (i32.ge_u (local.get $at) (local.get $size)))
      (call $store_u8 (i64.add (local.get $to) (i64.extend_i32_u (local.get $at)))
        (i32.load8_u (i32.add (local.get $from) (local.get $at))))
      (local.set $at (i32.add (local.get $at) (i32.const 1)))
      (br $next))))

  (func $input_block (result i32) (local $block i32) (local $size i32)
    (local.set $size (i32.wrap_i64 (call $input_length)))
    (local.set $block (call $alloc (local.get $size)))
    (call $read (i64.const 0) (local.get $block) (local.get $size))
    (local.get $block))

  (func (export "configure") (result i32)
    (call $init (call $input_block) (i32.wrap_i64 (call $input_length))))

  (func (export "transform") (result i32)
    (local $in i32) (local $size i32) (local $answer i64) (local $out i32) (local $out_size i32) (local $target i64)
    (local.set $size (i32.wrap_i64 (call $input_length)))
    (local.set $in (call $input_block))
    (local.set $answer (call $transform (local.get $in) (local.get $size)))
    (if (i64.ge_u (local.get $answer) (i64.const 0x8000000000000000)) (then (return (i32.const 1))))
    (local.set $out (i32.and (i32.const 0x3fffffff) (i32.wrap_i64 (i64.shr_u (local.get $answer) (i64.const 32)))))
    (local.set $out_size (i32.wrap_i64 (local.get $answer)))
    (if (i32.ne (local.get $out) (local.get $in)) (then (call $dealloc (local.get $in) (local.get $size))))
    (if (local.get $out_size) (then
      (local.set $target (call $host_alloc (i64.extend_i32_u (local.get $out_size))))
      (call $write (local.get $out) (local.get $target) (local.get $out_size))
      (call $output_set (local.get $target) (i64.extend_i32_u (local.get $out_size)))
      (call $dealloc (local.get $out) (local.get $out_size))))
    (i32.const 0))
)
