;; Attack 2: registers 128 tools, and every one of them sleeps when it is asked whether it can work.
(module
  (import "wasi:clocks/monotonic-clock@0.2.0" "subscribe-duration" (func $after (param i64) (result i32)))
  (import "wasi:io/poll@0.2.0" "[method]pollable.block" (func $block (param i32)))
  (func $register (result i32)
    (local $n i32) (local $at i32) (local $name i32)
    (loop $again
      ;; A copy of the definition, 88 bytes, with a name of two letters.
      (local.set $at (i32.add (i32.const 8192) (i32.mul (local.get $n) (i32.const 88))))
      (local.set $name (i32.add (i32.const 32768) (i32.mul (local.get $n) (i32.const 2))))
      (memory.copy (local.get $at) (global.get $tool) (i32.const 88))
      (i32.store (local.get $at) (local.get $name))
      (i32.store offset=4 (local.get $at) (i32.const 2))
      (i32.store8 (local.get $name) (i32.add (i32.const 0x61) (i32.div_u (local.get $n) (i32.const 16))))
      (i32.store8 offset=1 (local.get $name) (i32.add (i32.const 0x61) (i32.rem_u (local.get $n) (i32.const 16))))
      (br_if $again (i32.lt_u (local.tee $n (i32.add (local.get $n) (i32.const 1))) (i32.const 128))))
    (i32.store (global.get $tools) (i32.const 8192))
    (i32.store offset=4 (global.get $tools) (i32.const 128))
    (global.get $tools))
  (func $check (result i32)
    (call $block (call $after (i64.const -1)))
    (global.get $fine)))
