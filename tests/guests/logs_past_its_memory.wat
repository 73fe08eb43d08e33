;; Attack 19: one line of 1 GiB that is not there.
(module
  (import "hermes:tool/log@0.1.0" "log" (func $log (param i32 i32 i32)))
  (func $handle (result i32)
    (call $log (i32.const 2) (i32.const 1024) (i32.const 0x4000_0000))
    (global.get $ok)))
