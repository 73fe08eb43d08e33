;; Attack 20: 1.5 million empty pieces take 54 MB here and more in the host.
(module
  (memory 900)
  (func $handle (result i32)
    (i32.store offset=4 (global.get $ok) (i32.const 65536))
    (i32.store offset=8 (global.get $ok) (i32.const 1500000))
    (global.get $ok)))
