;; Attack 34: a schema that would make the host fetch something.
(module
  (data (i32.const 1024) "{\"properties\":{\"a\":{\"$ref\":\"http://127.0.0.1:9/x\"}}}")
  (func $register (result i32)
    (call $define (i32.const 3) (i32.const 1024) (i32.const 52))
    (global.get $tools)))
