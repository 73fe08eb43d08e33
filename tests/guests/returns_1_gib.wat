;; Attacks 19, 20: 1024 texts of 1 MiB, all the same one.
(module
  (memory 32)
  (func $handle (result i32)
    (local $at i32)
    (local.set $at (i32.const 4096))
    (loop $again
      (i32.store8 (local.get $at) (i32.const 1))
      (i32.store offset=4 (local.get $at) (i32.const 65536))
      (i32.store offset=8 (local.get $at) (i32.const 1048576))
      (local.set $at (i32.add (local.get $at) (i32.const 36)))
      (br_if $again (i32.lt_u (local.get $at) (i32.const 40960))))
    (i32.store offset=4 (global.get $ok) (i32.const 4096))
    (i32.store offset=8 (global.get $ok) (i32.const 1024))
    (global.get $ok)))
