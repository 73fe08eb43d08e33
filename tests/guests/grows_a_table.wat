;; Attack 16: asks for ten times the largest table there may be, and says what it got.
(module
  (table $table 1 funcref)
  (data (i32.const 1024) "deniedgranted")
  (func $handle (result i32)
    (if (result i32) (i32.eq (table.grow $table (ref.null func) (i32.const 1_000_000)) (i32.const -1))
      (then (call $answer (i32.const 1) (i32.const 1024) (i32.const 6)))
      (else (call $answer (i32.const 1) (i32.const 1030) (i32.const 7))))))
