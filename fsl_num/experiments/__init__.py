"""The paper's experiments, as data: what its figures of regression show, computed anew."""
