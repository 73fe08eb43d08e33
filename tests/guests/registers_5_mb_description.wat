;; Attack 34: a description of 5 MB, for the model to read.
(module
  (memory 100)
  (func $register (result i32)
    (memory.fill (i32.const 65536) (i32.const 0x78) (i32.const 5000000))
    (call $define (i32.const 2) (i32.const 65536) (i32.const 5000000))
    (global.get $tools)))
