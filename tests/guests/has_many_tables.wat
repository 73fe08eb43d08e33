;; Attack 16: forty modules with a table each.
(component
  (component $ten
    (core module $m (table 1 funcref))
    (core instance (instantiate $m)) (core instance (instantiate $m)) (core instance (instantiate $m))
    (core instance (instantiate $m)) (core instance (instantiate $m)) (core instance (instantiate $m))
    (core instance (instantiate $m)) (core instance (instantiate $m)) (core instance (instantiate $m))
    (core instance (instantiate $m)))
  (instance (instantiate $ten)) (instance (instantiate $ten)) (instance (instantiate $ten)) (instance (instantiate $ten)))
