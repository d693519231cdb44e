"""The command line as a person uses it: what it answers as JSON, and the one sentence with which it refuses."""

import json

from fsl_num.cli import main


def answer(arguments, capsys):
    """What a command prints as JSON when all is well."""
    assert main([*arguments, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def refusal(arguments, capsys):
    """The sentence on standard error of a command that cannot be run: status 2, and nothing on standard output."""
    assert main(arguments) == 2
    shown = capsys.readouterr()
    assert not shown.out and shown.err.startswith("fsl: ") and shown.err.count("\n") == 1
    return shown.err
