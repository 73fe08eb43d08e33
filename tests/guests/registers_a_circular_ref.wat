;; Attack 34: a schema that is itself, and nothing else.
(module
  (data (i32.const 1024) "{\"type\":\"object\",\"allOf\":[{\"$ref\":\"#\"}]}")
  (func $register (result i32)
    (call $define (i32.const 3) (i32.const 1024) (i32.const 40))
    (global.get $tools)))
