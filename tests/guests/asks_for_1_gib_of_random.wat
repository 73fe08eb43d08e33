;; Attack 22: the host would have to make it first.
(module
  (import "wasi:random/random@0.2.0" "get-random-bytes" (func $random (param i64 i32)))
  (func $handle (result i32)
    (call $random (i64.const 0x4000_0000) (i32.const 1024))
    (global.get $ok)))
