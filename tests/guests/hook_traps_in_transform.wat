;; world: hook
;; A hook that fails when it sees the result.
(module
  (func $subscribe (result i32) (call $points (i32.const 4)))
  (func $transform (result i32) unreachable))
