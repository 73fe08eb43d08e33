;; world: hook
;; A guard that would never be asked.
(module
  (func $subscribe (result i32) (call $points (i32.const 0))))
