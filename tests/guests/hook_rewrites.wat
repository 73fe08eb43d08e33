;; world: hook
;; Not an attack: puts another reply in place of every outcome. An error must stay one.
(module
  (data (i32.const 1024) "rewritten")
  (func $subscribe (result i32) (call $points (i32.const 4)))
  (func $transform (result i32) (call $reply (i32.const 1024) (i32.const 9))))
