;; Attack 33, 34: an import whose name clears the operator's screen and writes a line of its own.
(component
  (import "evil\1b[2J\nloaded fine" (instance)))
