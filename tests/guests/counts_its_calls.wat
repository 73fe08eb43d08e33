;; Attack 48: looks for what an earlier call left behind, in a global and in memory.
(module
  (global $calls (mut i32) (i32.const 0))
  (func $handle (result i32)
    (global.set $calls (i32.add (global.get $calls) (i32.const 1)))
    (i32.store8 (i32.const 1024) (i32.add (i32.const 0x30) (global.get $calls)))
    (i32.store8 (i32.const 1025) (i32.add (i32.load8_u (i32.const 1025)) (i32.const 0x31)))
    (call $answer (i32.const 1) (i32.const 1024) (i32.const 2))))
