;; Attack 4: asks the host for something while it says what it offers.
(module
  (import "hermes:tool/log@0.1.0" "log" (func $log (param i32 i32 i32)))
  (func $register (result i32)
    (call $log (i32.const 2) (i32.const 1024) (i32.const 4))
    (global.get $tools)))
