"""``python -m fsl_num`` is the ``fsl`` command."""

from fsl_num.cli import main

if __name__ == "__main__":
    raise SystemExit(main())
