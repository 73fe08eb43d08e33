;; Attack 25: a million opening brackets.
(module
  (memory 32)
  (func $handle (result i32)
    (memory.fill (i32.const 65536) (i32.const 0x5b) (i32.const 1000000))
    (call $answer (i32.const 0) (i32.const 65536) (i32.const 1000000))))
