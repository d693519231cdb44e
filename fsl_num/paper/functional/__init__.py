"""The functional scaling law of the first M features: its theorems, adversarial schedules, best constants."""
