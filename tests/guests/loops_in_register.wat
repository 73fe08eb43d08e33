;; Attack 4: never says what it offers.
(module
  (func $register (result i32) (loop $for_ever (br $for_ever)) unreachable))
