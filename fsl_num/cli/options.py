"""Options as commands share them: types, names that are looked up where they are defined, groups, and the command."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from importlib import import_module
from itertools import zip_longest
from pathlib import PurePath
from types import SimpleNamespace
from typing import Any

import click

from fsl_num.cli.inputs import InputError, model_size, positive_number, real_number, whole_number

_NEAR = 0.6  # so alike, of 1, is a name that was meant


class Arguments(SimpleNamespace):
    """What was typed, an attribute an option."""


class Read(click.ParamType):  # type: ignore[type-arg, unused-ignore] # generic in some versions
    """What ``read`` makes of a text; its complaint becomes the sentence of the refusal."""

    def __init__(self, name: str, read: Callable[[str], Any]) -> None:
        self.name = name
        self.read = read

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The value of a text; a default is one already."""
        try:
            return self.read(value) if isinstance(value, str) else value
        except InputError as error:
            self.fail(str(error), param, ctx)

    def get_metavar(self, param: click.Parameter, ctx: click.Context) -> str:
        """How the value is called in the help."""
        return self.name


class Names(click.ParamType):  # type: ignore[type-arg, unused-ignore] # as above
    """One of the names of ``module:NAME``, imported when it is needed; ``also`` are taken besides.

    >>> Names("fsl_num.curves.rates:BETWEEN").names
    ['auto', 'hold', 'straight']
    """

    name = "NAME"

    def __init__(self, source: str, *also: str) -> None:
        self.source = source
        self.also = also

    @property
    def names(self) -> list[str]:
        """All names that are taken."""
        place, _, name = self.source.partition(":")
        package, _, inner = place.partition(".")
        module = import_module(f"fsl_sym.{inner}") if package == "fsl_sym" else import_module(f"fsl_num.{inner}")
        return [*self.also, *getattr(module, name)]

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The name itself."""
        if value not in self.names:
            near = get_close_matches(str(value), self.names, 1, _NEAR)
            hint = f": did you mean {near[0]}?" if near else ""
            self.fail(f"{value!r} is none of {', '.join(self.names)}{hint}", param, ctx)
        return value


class ScheduleNames(Names):
    """Names of schedules, some of those in the catalogue; where all of it is meant also with parameters in parentheses,
    and those of frameworks.

    Other spellings are refused with the name. ``derived``: bare names only.
    """

    def __init__(self, source: str, *, derived: bool = False) -> None:
        super().__init__(source)
        self.derived = derived

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The name itself."""
        from fsl_num.schedules import SCHEDULES, is_name, parameters_of, spelling
        from fsl_num.schedules.frameworks import FRAMEWORKS

        try:
            if not self.derived and set(SCHEDULES) <= set(self.names) and is_name(value):
                parameters_of(value)
                return value
        except ValueError as error:
            self.fail(str(error), param, ctx)
        prefix, colon, _ = value.partition(":")
        if colon and not self.derived:
            self.fail(f"{value!r}: no framework {prefix!r} is known; choose {', '.join(FRAMEWORKS)}", param, ctx)
        if value not in self.names and (meant := spelling(value)) is not None:
            known = f"{value!r} is called {meant}" if meant != value else f"nothing is derived for {value} yet"
            self.fail(known if meant in self.names else f"{known}; choose {', '.join(self.names)}", param, ctx)
        return super().convert(value, param, ctx)


REAL = Read("X", real_number)


def whole(least: int, name: str = "N") -> Read:
    """The type of whole numbers of at least ``least``."""
    return Read(name, whole_number(least))


class Option(click.Option):
    """An option that may stand in a ``section`` of the help, take ``several`` words, or exclude others of a ``choice``.

    Of the options with the same ``choice`` at most one may be given. ``former``: how it was spelled once; that still
    works, with a hint. ``file``: of a flag that took a file once, the option that takes it now; a file typed behind the
    flag is still written, with a hint.
    """

    def __init__(
        self,
        *names: str,
        section: str = "",
        several: bool = False,
        choice: str = "",
        former: str = "",
        file: str = "",
        **settings: Any,
    ) -> None:
        super().__init__(names, multiple=several, **settings)
        self.former = former
        self.file = file
        self.section = section
        self.several = several
        self.choice = choice


def flag(name: str, help: str, **settings: Any) -> Option:
    """An option without a value."""
    return Option(name, is_flag=True, help=help, **settings)


class Command(click.Command):
    """A command that calls ``run`` with its arguments as attributes of one object, and returns the exit status."""

    def __init__(self, name: str, run: Callable[[Any], int], params: Sequence[click.Parameter], help: str) -> None:
        def callback(**values: Any) -> int:
            return run(Arguments(**values))

        super().__init__(name, params=[*params, _no_color()], callback=callback, help=help)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Repeat an option that takes several words before each of them, and refuse two of one choice."""
        options = [parameter for parameter in self.params if isinstance(parameter, Option)]
        several = {name for option in options if option.several for name in option.opts}
        former = {option.former: option.opts[0] for option in options if option.former}
        for old in sorted({word.partition("=")[0] for word in args} & set(former)):
            click.echo(f"fsl: {old} is called {former[old]} now", err=True)
        spelled = [former.get(word.partition("=")[0], "") for word in args]
        args = [
            now + word[len(word.partition("=")[0]) :] if now else word for now, word in zip(spelled, args, strict=True)
        ]
        args = list(_with_files(args, {name: option.file for option in options if option.file for name in option.opts}))
        remaining = super().parse_args(ctx, list(_repeated(args, several)))
        chosen: dict[str, str] = {}
        for parameter in self.params:
            if (
                isinstance(parameter, Option)
                and parameter.choice
                and ctx.params.get(parameter.name or "") not in (None, False)
            ):
                if ctx.get_parameter_source(parameter.name or "") is click.core.ParameterSource.COMMANDLINE:
                    if parameter.choice in chosen:
                        ctx.fail(f"{parameter.opts[0]} is not allowed with {chosen[parameter.choice]}")
                    chosen[parameter.choice] = parameter.opts[0]
        return remaining

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The options, section by section."""
        records: dict[str, list[tuple[str, str]]] = {"": []}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx) if isinstance(parameter, click.Option) else None
            if record is not None:
                names = f": {', '.join(parameter.type.names)}" if isinstance(parameter.type, Names) else ""
                records.setdefault(getattr(parameter, "section", ""), []).append((record[0], record[1] + names))
        for title, lines in records.items():
            with formatter.section(title or "Options"):
                formatter.write_dl(lines)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The example, on a line that can be copied."""
        if self.epilog:
            formatter.write(f"\nExample:\n  {self.epilog}\n")


def is_typed(name: str) -> bool:
    """Whether the option of this attribute was typed, and has not its default."""
    return click.get_current_context().get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE


def _with_files(args: Sequence[str], files: Mapping[str, str]) -> Iterator[str]:
    """The words, a flag with a file behind it as the option that takes files now."""
    for word, following in zip_longest(args, args[1:], fillvalue=""):
        if word in files and (following == "-" or PurePath(following).suffix):
            click.echo(f"fsl: {word} takes no file now: {files[word]} {following}", err=True)
            yield files[word]
        else:
            yield word


def _repeated(words: Sequence[str], several: set[str]) -> Iterator[str]:
    """``--x a b`` as ``--x a --x b`` for the options in ``several``.

    >>> list(_repeated(["--x", "a", "b", "--y", "c"], {"--x"}))
    ['--x', 'a', '--x', 'b', '--y', 'c']
    """
    option, count = "", 0
    for word in words:
        if word.startswith("--"):
            option, count = (word, 0) if word in several else ("", 0)
        elif option:
            count += 1
            if count > 1:
                yield option
        yield word


def _no_color() -> Option:
    def plain(ctx: click.Context, param: click.Parameter, value: bool) -> None:
        if value:
            ctx.color = False

    return flag("--no-color", "plain text (also where the output is no terminal)", expose_value=False, callback=plain)


def json_option(**settings: Any) -> Option:
    """``--json``, which every command takes."""
    return flag("--json", "as JSON", **settings)


def columns_option(example: str, of: str = "a log", **settings: Any) -> Option:
    """``--columns``, of whatever reads a log or another table."""
    return Option(
        "--columns", metavar=example, help=f"of {of}, which column is what: by name or position from 0", **settings
    )


def restarts_option(**settings: Any) -> Option:
    """``--restarts``, of whatever reads a log."""
    return Option(
        "--restarts",
        type=Names("fsl_num.curves.logs:RESTARTS"),
        default="refuse",
        help="of a log, steps that come again (default: refuse)",
        **settings,
    )


def model_options() -> list[Option]:
    """The task and the model of ``solve`` and ``simulate``."""
    size = Read("M", model_size)
    return [
        Option("--s", required=True, type=REAL, help="relative task difficulty s > 0"),
        Option("--beta", required=True, type=REAL, help="capacity exponent beta > 1"),
        Option("--model-size", required=True, type=size, help="a whole number, or inf"),
        Option("--noise", required=True, type=REAL, help="variance sigma^2 of the labels"),
    ]


def schedule_options(*, required: bool, steps: Read, file: bool = False) -> list[Option]:
    """The learning rate: a named schedule with its parameters, or a file."""
    section = "the learning rate"
    names = ScheduleNames("fsl_num.schedules:SCHEDULES")
    parts = [
        Option("--schedule", type=names, required=required,
               help="a named schedule, as cosine or 'linear(decay_fraction=0.2)', or one of a training framework, as "
               "hf:cosine(num_warmup_steps=200)"),
        Option("--peak-lr", type=Read("X", positive_number), required=required, help="its largest learning rate"),
        Option("--steps", type=steps, required=required, help="number of steps, warmup included"),
        Option("--final-lr", type=REAL, help="at the end, of cyclic the lowest (default: exp-decay 1%, wsd and cyclic "
               "10% of the peak, linear, cosine, 1-sqrt and power-decay 0)"),
        Option("--decay-fraction", type=REAL, help="share of the steps that decay, after a stable phase at the peak "
               "(default: wsd and 1-sqrt 0.2, linear, cosine and power-decay 1)"),
        Option("--power", type=REAL, help="power of power-decay (default: 1)"),
        Option("--timescale", type=REAL, help="steps, of inverse-sqrt (default: 1% of them)"),
        Option("--milestones", several=True, type=REAL, metavar="X...",
               help="shares of the steps, of multi-step (default: 0.5 0.75)"),
        Option("--factors", several=True, type=REAL, metavar="X...",
               help="shares of the peak from each milestone on (default: 0.1 0.01)"),
        Option("--cycles", type=whole(1, "C"), help="waves of cyclic (default: 4)"),
        Option("--warmup", type=whole(0), help="the first N steps; with --schedule the rate rises there from 0"),
        Option("--floor-lr", type=REAL, help="learning rate below which a named schedule never falls"),
    ]  # fmt: skip
    if file:
        rates = "one learning rate a row, each for one step, warmup included; a table step,lr; or a training log"
        parts.insert(1, Option("--schedule-file", metavar="FILE", help=rates))
        parts[2:2] = [columns_option("step=A,lr=B"), restarts_option()]
    for part in parts:
        part.section = section
    return parts
