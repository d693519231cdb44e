"""What the paper's experiments say."""
