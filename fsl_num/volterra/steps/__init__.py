"""Discrete schedules: gamma constant on every step, marched by compiled code, one schedule or many."""
