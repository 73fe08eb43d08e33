;; Attack 25: 4 MiB of JSON that are far more once they are read.
(module
  (memory 66)
  (func $handle (result i32)
    (local $at i32)
    (local.set $at (i32.const 65536))
    (loop $again
      (i32.store (local.get $at) (i32.const 0x2c302c30)) ;; 0,0,
      (br_if $again (i32.lt_u (local.tee $at (i32.add (local.get $at) (i32.const 4))) (i32.const 4259836))))
    (i32.store8 (i32.const 65535) (i32.const 0x5b))
    (i32.store16 (local.get $at) (i32.const 0x5d30))
    (call $answer (i32.const 0) (i32.const 65535) (i32.sub (local.get $at) (i32.const 65533)))))
