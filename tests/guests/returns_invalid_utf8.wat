;; Attack 21: a text that is none.
(module
  (data (i32.const 1024) "\ff\fe\80")
  (func $handle (result i32)
    (call $answer (i32.const 1) (i32.const 1024) (i32.const 3))))
