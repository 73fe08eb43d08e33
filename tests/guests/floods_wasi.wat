;; Attack 8, through WASI: reads the clock for ever.
(module
  (import "wasi:clocks/monotonic-clock@0.2.0" "now" (func $now (result i64)))
  (func $handle (result i32)
    (loop $again
      (drop (call $now))
      (br $again))
    unreachable))
