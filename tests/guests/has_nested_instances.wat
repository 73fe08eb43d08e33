;; Attack 17: ten instances of ten instances, four deep: 10,000 of them, and only ten declared.
(component
  (component $a
    (component $b
      (component $c
        (core module $m)
        (core instance (instantiate $m)) (core instance (instantiate $m)) (core instance (instantiate $m))
        (core instance (instantiate $m)) (core instance (instantiate $m)) (core instance (instantiate $m))
        (core instance (instantiate $m)) (core instance (instantiate $m)) (core instance (instantiate $m))
        (core instance (instantiate $m)))
      (instance (instantiate $c)) (instance (instantiate $c)) (instance (instantiate $c)) (instance (instantiate $c))
      (instance (instantiate $c)) (instance (instantiate $c)) (instance (instantiate $c)) (instance (instantiate $c))
      (instance (instantiate $c)) (instance (instantiate $c)))
    (instance (instantiate $b)) (instance (instantiate $b)) (instance (instantiate $b)) (instance (instantiate $b))
    (instance (instantiate $b)) (instance (instantiate $b)) (instance (instantiate $b)) (instance (instantiate $b))
    (instance (instantiate $b)) (instance (instantiate $b)))
  (instance (instantiate $a)) (instance (instantiate $a)) (instance (instantiate $a)) (instance (instantiate $a))
  (instance (instantiate $a)) (instance (instantiate $a)) (instance (instantiate $a)) (instance (instantiate $a))
  (instance (instantiate $a)) (instance (instantiate $a)))
