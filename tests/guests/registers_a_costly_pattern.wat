;; Attack 34, 59: a pattern that is short, compiles to little, and takes minutes for one string of 2 MB.
(module
  (data (i32.const 1024) "{\"properties\":{\"a\":{\"pattern\":\"[ab]*a[ab]{2000}c|z\"}}}")
  (func $register (result i32)
    (call $define (i32.const 3) (i32.const 1024) (i32.const 54))
    (global.get $tools)))
