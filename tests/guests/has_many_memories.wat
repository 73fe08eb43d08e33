;; Attack 14: each of ten memories is allowed; together they are 100 MiB.
(component
  (core module $hoard (memory 160))
  (core instance (instantiate $hoard)) (core instance (instantiate $hoard)) (core instance (instantiate $hoard))
  (core instance (instantiate $hoard)) (core instance (instantiate $hoard)) (core instance (instantiate $hoard))
  (core instance (instantiate $hoard)) (core instance (instantiate $hoard)) (core instance (instantiate $hoard))
  (core instance (instantiate $hoard)))
