;; Attack 5: waits 584 years inside a host call, where neither fuel nor epoch reach.
(module
  (import "wasi:clocks/monotonic-clock@0.2.0" "subscribe-duration" (func $after (param i64) (result i32)))
  (import "wasi:io/poll@0.2.0" "[method]pollable.block" (func $block (param i32)))
  (func $handle (result i32)
    (call $block (call $after (i64.const -1)))
    (global.get $ok)))
