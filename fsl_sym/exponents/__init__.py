"""The exponent engine: the least growth of a law over its hyperparameters, with regions, ranges and a certificate."""
