;; Attack 21: half a character.
;; strings: utf16
(module
  (data (i32.const 1024) "\00\d8")
  (func $handle (result i32)
    (call $answer (i32.const 1) (i32.const 1024) (i32.const 1))))
