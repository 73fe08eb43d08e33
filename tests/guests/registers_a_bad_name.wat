;; Attack 32: a name that is a path.
(module
  (data (i32.const 1024) "../x")
  (func $register (result i32)
    (call $define (i32.const 0) (i32.const 1024) (i32.const 4))
    (global.get $tools)))
