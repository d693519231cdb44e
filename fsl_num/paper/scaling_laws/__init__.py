"""The scaling laws of constant, exponential-decay and warmup-stable-decay schedules."""
