;; Attack 48: looks for what an earlier call left in its slots, everywhere, then leaves something everywhere itself. Its memory
;; is larger than what stays with a slot, and partly grown.
(module
  (memory 3)
  (table $table 9_000 funcref)
  (elem declare func $handle)
  (data (i32.const 1024) "cleandirty")
  (data (i32.const 2048) "as it was")
  ;; In the last of the pages that are there at the start, which is nothing otherwise.
  (data (i32.const 131072) "as it was")
  (func $handle (result i32)
    (local $at i32) (local $end i32) (local $length i32)
    (local.set $length (i32.const 5))
    (drop (memory.grow (i32.const 17)))
    (local.set $end (i32.mul (memory.size) (i32.const 65536)))
    ;; The data: the first word of each piece stands for it.
    (if (i32.or
          (i64.ne (i64.load (i32.const 2048)) (i64.const 0x6177207469207361))
          (i64.ne (i64.load (i32.const 131072)) (i64.const 0x6177207469207361)))
      (then (local.set $length (i32.const 10))))
    ;; Everything after what the call's own arguments took.
    (local.set $at (i32.const 8192))
    (loop $look
      (if (i32.and (i64.ne (i64.load (local.get $at)) (i64.const 0))
            (i32.gt_u (i32.sub (local.get $at) (i32.const 131072)) (i32.const 15)))
        (then (local.set $length (i32.const 10))))
      (br_if $look (i32.lt_u (local.tee $at (i32.add (local.get $at) (i32.const 8))) (local.get $end))))
    (local.set $at (i32.const 0))
    (loop $look
      (if (i32.eqz (ref.is_null (table.get $table (local.get $at))))
        (then (local.set $length (i32.const 10))))
      (br_if $look (i32.lt_u (local.tee $at (i32.add (local.get $at) (i32.const 1))) (i32.const 9_000))))
    (memory.fill (i32.const 2048) (i32.const 0xa5) (i32.sub (local.get $end) (i32.const 2048)))
    (table.fill $table (i32.const 0) (ref.func $handle) (i32.const 9_000))
    ;; end
    (call $answer (i32.const 1) (i32.const 1024) (local.get $length))))
