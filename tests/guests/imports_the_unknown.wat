;; Attack 33: asks for what no host of ours has.
(component
  (import "hermes:tool/teleport@0.1.0" (instance (export "go" (func)))))
