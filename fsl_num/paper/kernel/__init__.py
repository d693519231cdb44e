"""The forgetting kernel and the signal: their powers, their windows and their sharp constants."""
