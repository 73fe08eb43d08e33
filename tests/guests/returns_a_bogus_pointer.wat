;; Attack 21: a text that starts and ends outside the memory.
(module
  (func $handle (result i32)
    (call $answer (i32.const 1) (i32.const 0xffff_fff0) (i32.const 0x100))))
