;; The driver's imports and its staging memory.
;;
;; `@name` stands for the offset of that field in the state block at address 0 of the staging memory. The block is
;; declared once, as `DriverState` in driver_state.py; Python fills the names in before this text is assembled.
;; Everything the host must know when a guest traps is in that block, because it survives the trap.

(import "guest" "memory" (memory $guest 0))
(import "guest" "alloc" (func $alloc (param i32) (result i32)))
(import "guest" "dealloc" (func $dealloc (param i32 i32)))
(import "guest" "transform" (func $transform (param i32 i32) (result i64)))
(import "guest" "version" (func $version (result i32)))
(import "guest" "_initialize" (func $initialize))
(import "guest" "init" (func $init (param i32 i32) (result i32)))
(import "guest" "shutdown" (func $shutdown (result i32)))
(import "services" "attached" (table $attached 4 4 funcref))
(import "services" "early_calls" (global $early_calls (mut i32)))
(import "services" "staging" (memory $staging 1))

;; True when [ptr, ptr+len) lies in the guest's memory. 64-bit arithmetic, so that no sum can wrap.
(func $in_guest (param $ptr i32) (param $len i32) (result i32)
  (i64.le_u
    (i64.add (i64.extend_i32_u (local.get $ptr)) (i64.extend_i32_u (local.get $len)))
    (i64.shl (i64.extend_i32_u (memory.size $guest)) (i64.const 16))))

;; Ends the run with the event under way failed. The host decides whether it is tried again on a fresh instance.
(func $fail (param $code i32) (result i32)
  (i32.store $staging offset=@failure_code (i32.const 0) (local.get $code))
  (i32.const 2))
