;; world: hook
;; Attack 1: a hook that never comes back, after the call.
(module
  (func $subscribe (result i32) (call $points (i32.const 2)))
  (func $post (loop $for_ever (br $for_ever))))
