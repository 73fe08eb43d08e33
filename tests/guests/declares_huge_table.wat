;; Attack 16: wants a table of 4,294,967,295 elements.
(module (table 0xffff_ffff funcref))
