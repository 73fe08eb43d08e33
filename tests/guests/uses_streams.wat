;; What WASI 0.3 is made of: the engine has no streams, and says so only once it compiles.
(component
  (type $bytes (stream u8))
  (component
    (import "read" (func (param "from" (stream u8))))))
