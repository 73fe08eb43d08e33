;; Attack 10: the test gives it every amount of fuel up to what it needs, so that it runs out before, in and after a host call.
(module
  (import "hermes:tool/log@0.1.0" "log" (func $log (param i32 i32 i32)))
  (data (i32.const 1024) "here")
  (func $handle (result i32)
    (call $log (i32.const 2) (i32.const 1024) (i32.const 4))
    (call $log (i32.const 2) (i32.const 1024) (i32.const 4))
    (global.get $ok)))
