"""Discrete schedules: gamma constant on every step, step by step or merged into stretches, one schedule or many."""
