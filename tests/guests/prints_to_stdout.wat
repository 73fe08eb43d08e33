;; Attack 48: prints what a reader of the host's stdout would take for the result.
(module
  (import "wasi:cli/stdout@0.2.0" "get-stdout" (func $stdout (result i32)))
  (import "wasi:io/streams@0.2.0" "[method]output-stream.write" (func $write (param i32 i32 i32 i32)))
  (data (i32.const 1024) "{\"stolen\": true}\n")
  (func $handle (result i32)
    (call $write (call $stdout) (i32.const 1024) (i32.const 17) (i32.const 2048))
    (global.get $ok)))
