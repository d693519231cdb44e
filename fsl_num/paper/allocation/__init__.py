"""The optimal allocations under a data or a compute budget, and what follows from comparing them."""
