;; Attack 24: a function that calls itself.
(module
  (func $deeper (param i32) (result i32)
    (i32.add (call $deeper (i32.add (local.get 0) (i32.const 1))) (local.get 0)))
  (func $handle (result i32) (call $deeper (i32.const 0))))
