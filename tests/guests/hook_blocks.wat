;; world: hook
;; Not an attack: says no to every call.
(module
  (data (i32.const 1024) "not on a Sunday")
  (func $subscribe (result i32) (call $points (i32.const 1)))
  (func $pre (result i32) (call $say (i32.const 1) (i32.const 1024) (i32.const 15))))
