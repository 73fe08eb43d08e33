;; Attack 14: one module of sixteen memories. Each grows to 8 MiB, which it may; together they would have 128 MiB.
(module
  (memory 1)
  (memory 0) (memory 0) (memory 0) (memory 0) (memory 0) (memory 0) (memory 0) (memory 0)
  (memory 0) (memory 0) (memory 0) (memory 0) (memory 0) (memory 0) (memory 0)
  (func $handle (result i32)
    (drop (memory.grow 0 (i32.const 127)))
    (drop (memory.grow 1 (i32.const 128))) (drop (memory.grow 2 (i32.const 128))) (drop (memory.grow 3 (i32.const 128)))
    (drop (memory.grow 4 (i32.const 128))) (drop (memory.grow 5 (i32.const 128))) (drop (memory.grow 6 (i32.const 128)))
    (drop (memory.grow 7 (i32.const 128))) (drop (memory.grow 8 (i32.const 128))) (drop (memory.grow 9 (i32.const 128)))
    (drop (memory.grow 10 (i32.const 128))) (drop (memory.grow 11 (i32.const 128))) (drop (memory.grow 12 (i32.const 128)))
    (drop (memory.grow 13 (i32.const 128))) (drop (memory.grow 14 (i32.const 128))) (drop (memory.grow 15 (i32.const 128)))
    (global.get $ok)))
