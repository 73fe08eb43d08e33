;; Attack 33: a tool from the future.
(component
  (instance $provider)
  (export "hermes:tool/provider@0.9.0" (instance $provider)))
