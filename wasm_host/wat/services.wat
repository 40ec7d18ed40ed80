;; What a guest may import, and nothing else.
;;
;; The functions behind these names must read the guest's memory, which does not exist before the guest is
;; instantiated; and the guest cannot be instantiated without them. The table breaks the circle: the guest gets these
;; trampolines, and the driver, which is instantiated last, puts the real functions (journal.wat, metrics.wat) into
;; the table. A guest never sees the table, so it cannot put anything of its own there.
;;
;; A call from a start function comes before the driver. It is counted and does nothing.
;;
;; This instance, and the staging memory in it, belongs to the store and serves one guest after the other.
(module
  ;; As large as the default layout needs, so that it rarely grows; pages that are not touched cost nothing.
  (memory (export "staging") 64)

  (type $log (func (param i32 i32 i32)))
  (type $record_metric (func (param i32 i64)))
  (type $get_metric (func (param i32) (result i64)))
  (type $abort (func (param i32 i32 i32 i32)))

  (table $attached (export "attached") 4 4 funcref)
  (global $early_calls (export "early_calls") (mut i32) (i32.const 0))

  (func $is_missing (param $slot i32) (result i32)
    (if (result i32) (ref.is_null (table.get $attached (local.get $slot)))
      (then
        (global.set $early_calls (i32.add (global.get $early_calls) (i32.const 1)))
        (i32.const 1))
      (else (i32.const 0))))

  (func (export "log") (param $level i32) (param $ptr i32) (param $len i32)
    (br_if 0 (call $is_missing (i32.const 0)))
    (call_indirect $attached (type $log)
      (local.get $level) (local.get $ptr) (local.get $len) (i32.const 0)))

  (func (export "record_metric") (param $name i32) (param $value i64)
    (br_if 0 (call $is_missing (i32.const 1)))
    (call_indirect $attached (type $record_metric) (local.get $name) (local.get $value) (i32.const 1)))

  (func (export "get_metric") (param $name i32) (result i64)
    (if (call $is_missing (i32.const 2)) (then (return (i64.const 0))))
    (call_indirect $attached (type $get_metric) (local.get $name) (i32.const 2)))

  ;; AssemblyScript calls this before it gives up. It never returns, attached or not.
  (func (export "abort") (param $message i32) (param $file i32) (param $line i32) (param $column i32)
    (if (i32.eqz (call $is_missing (i32.const 3)))
      (then
        (call_indirect $attached (type $abort)
          (local.get $message) (local.get $file) (local.get $line) (local.get $column) (i32.const 3))))
    (unreachable))

  ;; Forgets the driver of a guest that is given up, before its successor is made. Always 0.
  (func (export "detach") (result i32)
    (table.fill $attached (i32.const 0) (ref.null func) (i32.const 4))
    (global.set $early_calls (i32.const 0))
    (i32.const 0))

  ;; Stand-ins for exports that a guest may leave out, so that the driver can call them without asking.
  (func (export "no_initialize"))
  (func (export "no_init") (param i32 i32) (result i32) (i32.const 0))
  (func (export "no_shutdown") (result i32) (i32.const 0)))
