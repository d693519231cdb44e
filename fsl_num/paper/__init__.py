"""The claims of the paper, a folder a section: formulas, hypotheses, measurements and errata."""
