;; Attack 1: never comes back.
(module
  (func $handle (result i32) (loop $for_ever (br $for_ever)) unreachable))
