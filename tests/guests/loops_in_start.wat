;; Attack 3: never even starts.
(module
  (func $constructor (loop $for_ever (br $for_ever)))
  (start $constructor))
