"""Render what was derived and judged, as text, Markdown, LaTeX and JSON. Nothing here computes a result."""
