"""The verification: every claim of the paper, checked by two independent witnesses and judged.

Claims, the paper, the reports and the command line are the only places that import both `fsl_sym` and the solvers of
`fsl_num`.
"""
