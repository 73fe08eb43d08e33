;; Attack 21: a piece of a kind that does not exist.
(module
  (func $handle (result i32)
    (call $answer (i32.const 77) (i32.const 1024) (i32.const 3))))
