;; env.record_metric and env.get_metric: counters in a fixed hash table of the staging memory.
;;
;; A slot is 192 bytes: hash (i32, 0 = free), name bytes (i32), total (i64), pending (i64), link of the touched list
;; (i32), is touched (i32), then the name from offset 40. `pending` belongs to the event under way and is added to
;; `total` when the event ends well, so that an event which traps and is tried again does not count twice; get_metric
;; reads `pending`, so that it carries nothing from one event to the next. Names beyond the table are counted as lost.

;; Length of the NUL-terminated name at ptr, or -1 (outside memory, or no NUL within 129 bytes).
(func $name_bytes (param $ptr i32) (result i32)
  (local $n i32) (local $end i64)
  (local.set $end (i64.shl (i64.extend_i32_u (memory.size $guest)) (i64.const 16)))
  (loop $more
    (if (i64.ge_u (i64.add (i64.extend_i32_u (local.get $ptr)) (i64.extend_i32_u (local.get $n))) (local.get $end))
      (then (return (i32.const -1))))
    (if (i32.eqz (i32.load8_u $guest (i32.add (local.get $ptr) (local.get $n))))
      (then (return (local.get $n))))
    (local.set $n (i32.add (local.get $n) (i32.const 1)))
    (br_if $more (i32.le_u (local.get $n) (i32.const 128))))
  (i32.const -1))

;; FNV-1a, never 0.
(func $name_hash (param $ptr i32) (param $len i32) (result i32)
  (local $hash i32) (local $i i32)
  (local.set $hash (i32.const 0x811c9dc5))
  (block $done
    (loop $more
      (br_if $done (i32.ge_u (local.get $i) (local.get $len)))
      (local.set $hash
        (i32.mul
          (i32.xor (local.get $hash) (i32.load8_u $guest (i32.add (local.get $ptr) (local.get $i))))
          (i32.const 0x01000193)))
      (local.set $i (i32.add (local.get $i) (i32.const 1)))
      (br $more)))
  (i32.or (local.get $hash) (i32.const 1)))

(func $same_name (param $slot i32) (param $ptr i32) (param $len i32) (result i32)
  (local $i i32)
  (if (i32.ne (i32.load $staging offset=4 (local.get $slot)) (local.get $len)) (then (return (i32.const 0))))
  (block $done
    (loop $more
      (br_if $done (i32.ge_u (local.get $i) (local.get $len)))
      (if (i32.ne
            (i32.load8_u $staging offset=40 (i32.add (local.get $slot) (local.get $i)))
            (i32.load8_u $guest (i32.add (local.get $ptr) (local.get $i))))
        (then (return (i32.const 0))))
      (local.set $i (i32.add (local.get $i) (i32.const 1)))
      (br $more)))
  (i32.const 1))

;; The slot of a name, made if `make` is set; 0 when there is none. 256 slots, probed in order.
(func $find_slot (param $ptr i32) (param $make i32) (result i32)
  (local $len i32) (local $hash i32) (local $slot i32) (local $tries i32) (local $table i32)
  (local.set $len (call $name_bytes (local.get $ptr)))
  (if (i32.eq (local.get $len) (i32.const -1)) (then (return (i32.const 0))))
  (local.set $hash (call $name_hash (local.get $ptr) (local.get $len)))
  (local.set $table (i32.load $staging offset=@metrics_address (i32.const 0)))
  (loop $probe
    (local.set $slot
      (i32.add (local.get $table)
        (i32.mul
          (i32.and (i32.add (local.get $hash) (local.get $tries)) (i32.const 255))
          (i32.const 192))))
    (if (i32.eqz (i32.load $staging (local.get $slot)))
      (then
        (if (i32.eqz (local.get $make)) (then (return (i32.const 0))))
        (i32.store $staging offset=@metrics_seen (i32.const 0) (i32.const 1))
        (i32.store $staging (local.get $slot) (local.get $hash))
        (i32.store $staging offset=4 (local.get $slot) (local.get $len))
        (memory.copy $staging $guest (i32.add (local.get $slot) (i32.const 40)) (local.get $ptr) (local.get $len))
        (return (local.get $slot))))
    (if (i32.eq (i32.load $staging (local.get $slot)) (local.get $hash))
      (then
        (if (call $same_name (local.get $slot) (local.get $ptr) (local.get $len))
          (then (return (local.get $slot))))))
    (local.set $tries (i32.add (local.get $tries) (i32.const 1)))
    (br_if $probe (i32.lt_u (local.get $tries) (i32.const 256))))
  (i32.const 0))

(func $record_metric (param $name i32) (param $value i64)
  (local $slot i32)
  (local.set $slot (call $find_slot (local.get $name) (i32.const 1)))
  (if (i32.eqz (local.get $slot))
    (then
      (i32.store $staging offset=@metrics_lost (i32.const 0)
        (i32.add (i32.load $staging offset=@metrics_lost (i32.const 0)) (i32.const 1)))
      (return)))
  (if (i32.eqz (i32.load $staging offset=28 (local.get $slot)))
    (then
      (i32.store $staging offset=24 (local.get $slot) (i32.load $staging offset=@touched_metrics (i32.const 0)))
      (i32.store $staging offset=28 (local.get $slot) (i32.const 1))
      (i32.store $staging offset=@touched_metrics (i32.const 0) (local.get $slot))))
  (i64.store $staging offset=16 (local.get $slot)
    (i64.add (i64.load $staging offset=16 (local.get $slot)) (local.get $value))))

(func $get_metric (param $name i32) (result i64)
  (local $slot i32)
  (local.set $slot (call $find_slot (local.get $name) (i32.const 0)))
  (if (i32.eqz (local.get $slot)) (then (return (i64.const 0))))
  (i64.load $staging offset=16 (local.get $slot)))

;; Moves what this event recorded from `pending` to `total`, each slot in one go.
(func $commit_metrics
  (local $slot i32)
  (local.set $slot (i32.load $staging offset=@touched_metrics (i32.const 0)))
  (block $done
    (loop $next
      (br_if $done (i32.eqz (local.get $slot)))
      (i64.store $staging offset=8 (local.get $slot)
        (i64.add (i64.load $staging offset=8 (local.get $slot)) (i64.load $staging offset=16 (local.get $slot))))
      (i64.store $staging offset=16 (local.get $slot) (i64.const 0))
      (i32.store $staging offset=28 (local.get $slot) (i32.const 0))
      (local.set $slot (i32.load $staging offset=24 (local.get $slot)))
      (br $next)))
  (i32.store $staging offset=@touched_metrics (i32.const 0) (i32.const 0))
  (i32.store $staging offset=@pending_counts (i32.const 0) (i32.const 0)))
