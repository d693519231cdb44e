"""The court: every claim of the paper, heard by two independent witnesses and judged.

The court, the reports and the command line are the only places that import both `fsl_sym` and `fsl_num`'s solvers.
"""
