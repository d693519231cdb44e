"""The functional scaling law of random features, and the lemmas of its proof."""
