;; Attack 21: the tag says UTF-16, the length is the largest there is.
;; strings: latin1+utf16
(module
  (func $handle (result i32)
    (call $answer (i32.const 1) (i32.const 1024) (i32.const 0xffff_ffff))))
