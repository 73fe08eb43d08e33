;; What a panic looks like from outside.
(module
  (func $handle (result i32) unreachable))
