;; Attack 34: a schema whose only branch is itself.
(module
  (data (i32.const 1024) "{\"type\":\"object\",\"anyOf\":[{\"$ref\":\"#\"}]}")
  (func $register (result i32)
    (call $define (i32.const 3) (i32.const 1024) (i32.const 40))
    (global.get $tools)))
