;; Not an attack by itself: a call that is slow and works.
(module
  (import "wasi:clocks/monotonic-clock@0.2.0" "subscribe-duration" (func $after (param i64) (result i32)))
  (import "wasi:io/poll@0.2.0" "[method]pollable.block" (func $block (param i32)))
  (func $handle (result i32)
    (call $block (call $after (i64.const 1_800_000_000)))
    (global.get $ok)))
