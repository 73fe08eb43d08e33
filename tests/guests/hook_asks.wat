;; world: hook
;; Not an attack: wants a person to decide every call.
(module
  (data (i32.const 1024) "is this wise?")
  (func $subscribe (result i32) (call $points (i32.const 1)))
  (func $pre (result i32) (call $say (i32.const 2) (i32.const 1024) (i32.const 13))))
