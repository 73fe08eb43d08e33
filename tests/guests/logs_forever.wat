;; Attack 8: each call is cheap, and there is no end of them.
(module
  (import "hermes:tool/log@0.1.0" "log" (func $log (param i32 i32 i32)))
  (data (i32.const 1024) "still here")
  (func $handle (result i32)
    (loop $again
      (call $log (i32.const 2) (i32.const 1024) (i32.const 10))
      (br $again))
    unreachable))
