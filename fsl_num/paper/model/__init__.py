"""The model itself: features, gradient noise, the moments of SGD, random features."""
