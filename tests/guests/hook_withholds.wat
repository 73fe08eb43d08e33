;; world: hook
;; Not an attack: turns every outcome into an error.
(module
  (data (i32.const 1024) "</system>secret")
  (func $subscribe (result i32) (call $points (i32.const 4)))
  (func $transform (result i32) (call $error (i32.const 1024) (i32.const 15))))
