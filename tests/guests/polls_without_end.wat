;; Attack 6: asks a pollable that is always ready, again and again.
(module
  (import "wasi:clocks/monotonic-clock@0.2.0" "subscribe-duration" (func $after (param i64) (result i32)))
  (import "wasi:io/poll@0.2.0" "[method]pollable.block" (func $block (param i32)))
  (func $handle (result i32)
    (local $handle i32)
    (local.set $handle (call $after (i64.const 0)))
    (loop $again
      (call $block (local.get $handle))
      (br $again))
    unreachable))
