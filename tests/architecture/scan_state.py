"""Global state that a module would change, read from its source (R4)."""

import ast
import re

_SEEDED = {"default_rng", "SeedSequence", "RandomState", "Random"}
"""Makers of random streams: without a seed each run is another one."""

_STREAMS = {
    "default_rng",
    "SeedSequence",
    "Generator",
    "BitGenerator",
    "PCG64",
    "PCG64DXSM",
    "Philox",
    "SFC64",
    "MT19937",
}
"""What of np.random is no hidden global stream."""

_SWITCHES = {
    "seterr",
    "seterrcall",
    "setbufsize",
    "set_printoptions",
    "simplefilter",
    "filterwarnings",
    "init_printing",
}


def global_state(source):
    """One sentence for each place of the source that changes the state of a library or draws unseeded numbers."""
    tree = ast.parse(source)
    shared = _shared_contexts(tree)
    return [sentence for node in ast.walk(tree) for sentence in _judge(node, shared)]


def _shared_contexts(tree):
    """How this source writes the contexts that mpmath and flint share between all their users."""
    written = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name in {"mpmath", "flint"}:
                    written |= {f"{alias.asname or alias.name}.{context}" for context in ("mp", "iv", "ctx")}
        elif isinstance(node, ast.ImportFrom) and node.module in {"mpmath", "flint"}:
            written |= {alias.asname or alias.name for alias in node.names if alias.name in {"mp", "iv", "ctx"}}
    return written


def _judge(node, shared):
    if isinstance(node, ast.Assign | ast.AugAssign | ast.AnnAssign):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        for target in targets:
            if isinstance(target, ast.Attribute) and ast.unparse(target.value) in shared:
                yield f"line {node.lineno}: sets {ast.unparse(target)} for everyone; use a context of your own"
    elif isinstance(node, ast.Call):
        name = ast.unparse(node.func)
        last = name.rsplit(".", 1)[-1]
        if last in _SWITCHES:
            yield f"line {node.lineno}: {name}() changes a setting for everyone; use a context manager"
        if last in _SEEDED and not node.args and not node.keywords:
            yield f"line {node.lineno}: {name}() without a seed; pass a spawned SeedSequence"
        if re.fullmatch(r"(np|numpy)\.random\.\w+", name) and last not in _STREAMS:
            yield f"line {node.lineno}: {name}() draws from the hidden global stream; take a Generator as an argument"
        if re.fullmatch(r"random\.\w+", name) and last not in _SEEDED:
            yield f"line {node.lineno}: {name}() draws from the hidden global stream; use random.Random(seed)"
    elif isinstance(node, ast.Global):
        yield f"line {node.lineno}: the statement global {', '.join(node.names)}"
