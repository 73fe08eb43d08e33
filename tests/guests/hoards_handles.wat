;; Attack 18: opens the same stream again and again and lets none go.
(module
  (import "wasi:cli/stdout@0.2.0" "get-stdout" (func $stdout (result i32)))
  (func $handle (result i32)
    (loop $again
      (drop (call $stdout))
      (br $again))
    unreachable))
