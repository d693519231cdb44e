"""The ``fsl`` command, also as ``python -m fsl_num``: it may be interrupted from its first moment on."""

import sys


def main() -> int:
    """Run the command with the words of the process and return its exit status.

    >>> callable(main)
    True
    """
    try:
        from fsl_num.cli import main as command  # a fifth of a second, in which a traceback would say nothing
        from fsl_num.cli.executors import suited_to_processes

        with suited_to_processes():
            return command()
    except KeyboardInterrupt:
        print("fsl: interrupted", file=sys.stderr)
        return 130


if __name__ == "__main__":
    raise SystemExit(main())
