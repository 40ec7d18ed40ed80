;; A guest that does, to a few events in a thousand, everything a guest must not do; the others it hands back.
;; Which misfortune strikes is decided by a hash of the event, so it is the same in every run and every batch.
(module
  (import "env" "log" (func $log (param i32 i32 i32)))
  (memory (export "memory") 2)
  (data (i32.const 16) "about to panic: no such column")
  (data (i32.const 64) "refused: this event is not to my liking")
  (data (i32.const 128) "\ff\ff\ff\ff\ff\ff\ff\ff")
  (global $block_start i32 (i32.const 4096))

  (func (export "wasm_host_abi_version") (result i32) (i32.const 1))

  ;; One block is enough: the input, which is also the answer.
  (func (export "alloc") (param $size i32) (result i32)
    (local $missing i32)
    (local.set $missing
      (i32.sub (i32.add (global.get $block_start) (local.get $size)) (i32.shl (memory.size) (i32.const 16))))
    (if (i32.gt_s (local.get $missing) (i32.const 0))
      (then
        (if (i32.eq (memory.grow (i32.add (i32.shr_u (local.get $missing) (i32.const 16)) (i32.const 1))) (i32.const -1))
          (then (return (i32.const 0))))))
    (global.get $block_start))
  (func (export "dealloc") (param i32 i32))

  ;; FNV-1a over the bytes.
  (func $hash (param $at i32) (param $size i32) (result i32)
    (local $end i32) (local $hash i32)
    (local.set $hash (i32.const 0x811c9dc5))
    (local.set $end (i32.add (local.get $at) (local.get $size)))
    (block $done
      (loop $next
        (br_if $done (i32.ge_u (local.get $at) (local.get $end)))
        (local.set $hash
          (i32.mul (i32.xor (local.get $hash) (i32.load8_u (local.get $at))) (i32.const 0x01000193)))
        (local.set $at (i32.add (local.get $at) (i32.const 1)))
        (br $next)))
    (local.get $hash))

  (func $answer (param $kind i64) (param $at i32) (param $size i32) (result i64)
    (i64.or (i64.shl (local.get $kind) (i64.const 62))
      (i64.or (i64.shl (i64.extend_i32_u (local.get $at)) (i64.const 32)) (i64.extend_i32_u (local.get $size)))))

  (func $spin (loop $again (br $again)))

  (func $swallow_memory
    (block $full
      (loop $more
        (br_if $full (i32.eq (memory.grow (i32.const 16)) (i32.const -1)))
        (br $more)))
    (unreachable))

  (func (export "transform") (param $at i32) (param $size i32) (result i64)
    (local $fate i32)
    (local.set $fate (i32.rem_u (call $hash (local.get $at) (local.get $size)) (i32.const 600)))
    (if (i32.eq (local.get $fate) (i32.const 0)) (then (call $spin)))
    (if (i32.eq (local.get $fate) (i32.const 1))
      (then (call $log (i32.const 2) (i32.const 16) (i32.const 30)) (unreachable)))
    (if (i32.eq (local.get $fate) (i32.const 2)) (then (call $swallow_memory)))
    ;; An answer far outside of the memory.
    (if (i32.eq (local.get $fate) (i32.const 3))
      (then (return (call $answer (i64.const 0) (i32.const 0x3fff0000) (i32.const 4096)))))
    ;; An answer that is not an event.
    (if (i32.eq (local.get $fate) (i32.const 4))
      (then (return (call $answer (i64.const 0) (i32.const 128) (i32.const 8)))))
    (if (i32.eq (local.get $fate) (i32.const 5))
      (then (return (call $answer (i64.const 2) (i32.const 64) (i32.const 39)))))
    (call $answer (i64.const 0) (local.get $at) (local.get $size))))
