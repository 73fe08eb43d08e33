;; Attack 25: JSON that ends too early.
(module
  (data (i32.const 1024) "{\"a\":")
  (func $handle (result i32)
    (call $answer (i32.const 0) (i32.const 1024) (i32.const 5))))
