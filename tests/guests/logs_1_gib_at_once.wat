;; Attack 19: one line of all the memory there is.
(module
  (import "hermes:tool/log@0.1.0" "log" (func $log (param i32 i32 i32)))
  (memory 1000)
  (func $handle (result i32)
    (call $log (i32.const 2) (i32.const 65536) (i32.const 65000000))
    (global.get $ok)))
