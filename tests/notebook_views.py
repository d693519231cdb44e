"""What a notebook shows of a value, asked of the formatters of IPython as a notebook asks."""

from IPython.core.formatters import HTMLFormatter, LatexFormatter, MarkdownFormatter


def as_html(value):
    """The value in HTML; "" where it has none."""
    return str(HTMLFormatter()(value) or "")


def as_latex(value):
    """The value in LaTeX, between dollar signs; "" where it has none."""
    return str(LatexFormatter()(value) or "")


def as_markdown(value):
    """The value in Markdown; "" where it has none."""
    return str(MarkdownFormatter()(value) or "")
