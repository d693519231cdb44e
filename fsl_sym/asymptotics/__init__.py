"""Asymptotic expansions of harmonic sums by Mellin transforms, with sharp constants."""
