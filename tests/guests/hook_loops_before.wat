;; world: hook
;; Attack 1: a hook that never comes back, before the call.
(module
  (func $subscribe (result i32) (call $points (i32.const 1)))
  (func $pre (result i32) (loop $for_ever (br $for_ever)) unreachable))
