"""Proven errors: the loss in ball arithmetic, the defect of the approximation included (the extra ``rigor``)."""
