"""The report of the court as one web page that needs nothing but itself: no network, and no script to be read."""

from fsl_num.report.html.document import page

__all__ = ["page"]
