;; Attack 21: two-byte units at an odd address.
;; strings: utf16
(module
  (func $handle (result i32)
    (call $answer (i32.const 1) (i32.const 1025) (i32.const 8))))
