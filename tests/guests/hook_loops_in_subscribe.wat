;; world: hook
;; Attack 4, by a hook.
(module
  (func $subscribe (result i32) (loop $for_ever (br $for_ever)) unreachable))
