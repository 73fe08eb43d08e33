;; Attack 2: never says whether it can work.
(module
  (func $check (result i32) (loop $for_ever (br $for_ever)) unreachable))
