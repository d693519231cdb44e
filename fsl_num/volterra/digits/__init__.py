"""Any number of digits: the solvers for constant and for varying gamma, and the arithmetic and modes they need."""
