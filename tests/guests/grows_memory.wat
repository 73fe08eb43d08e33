;; Attack 13: takes memory until there is none.
(module
  (func $handle (result i32)
    (loop $again
      (br_if $again (i32.ne (memory.grow (i32.const 16)) (i32.const -1))))
    unreachable))
