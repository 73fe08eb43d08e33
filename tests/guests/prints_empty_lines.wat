;; Attack 19: lines of no bytes cost a log nothing, if it counts bytes alone. Here are 4 million in one write.
(module
  (import "wasi:cli/stdout@0.2.0" "get-stdout" (func $stdout (result i32)))
  (import "wasi:io/streams@0.2.0" "[method]output-stream.write" (func $write (param i32 i32 i32 i32)))
  (memory 100)
  (func $handle (result i32)
    (memory.fill (i32.const 65536) (i32.const 0x0a) (i32.const 4000000))
    (call $write (call $stdout) (i32.const 65536) (i32.const 4000000) (i32.const 2048))
    (global.get $ok)))
