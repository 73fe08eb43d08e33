;; Attack 13: has nearly all it may have, touches 24 MiB of it, then asks for what it may not.
(module
  (memory 1000)
  (func $handle (result i32)
    (memory.fill (i32.const 65536) (i32.const 7) (i32.const 0x180_0000))
    (drop (memory.grow (i32.const 1000)))
    (global.get $ok)))
