;; A function that is async only where core code meets the component model.
(component
  (core module $m
    (func (export "run") (result i32) (i32.const 0))
    (func (export "callback") (param i32 i32 i32) (result i32) (i32.const 0)))
  (core instance $i (instantiate $m))
  (func (export "run") async (canon lift (core func $i "run") async (callback (func $i "callback")))))
