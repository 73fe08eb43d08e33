;; Attack 6: one poll of a list that names the same pollable a million times.
(module
  (import "wasi:clocks/monotonic-clock@0.2.0" "subscribe-duration" (func $after (param i64) (result i32)))
  (import "wasi:io/poll@0.2.0" "poll" (func $poll (param i32 i32 i32)))
  (memory 64)
  (func $handle (result i32)
    (local $handle i32) (local $at i32)
    (local.set $handle (call $after (i64.const -1)))
    (local.set $at (i32.const 65536))
    (loop $fill
      (i32.store (local.get $at) (local.get $handle))
      (local.set $at (i32.add (local.get $at) (i32.const 4)))
      (br_if $fill (i32.lt_u (local.get $at) (i32.const 4065536))))
    (call $poll (i32.const 65536) (i32.const 1000000) (i32.const 1024))
    (global.get $ok)))
