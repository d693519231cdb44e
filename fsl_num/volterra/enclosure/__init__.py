"""Proven errors: the loss in ball arithmetic, the defect of the approximation included (the extra ``rigor``)."""

from fsl_num.volterra.enclosure.solver import solve_enclosure

__all__ = ["solve_enclosure"]
