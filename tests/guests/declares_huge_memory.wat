;; Attack 15: wants 4 GiB before its first instruction.
(module (memory 65536))
