"""What MkDocs does not do by itself: pages made of claims, formulas as MathML, figures drawn, links checked.

Every claim is verified (what the cache knows is not checked again), so that the site shows what this commit says.
"""

from __future__ import annotations

import base64
import io
import json
import re
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from html import unescape
from importlib import import_module
from importlib.metadata import distribution
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

ROOT = Path(__file__).resolve().parents[1]
STYLES = ROOT / "fsl_num" / "report" / "html"
"""Where the looks of claims are, and what their graphs do."""

CODE = re.compile(r"(^```.*?^```|`[^`\n]+`)", re.MULTILINE | re.DOTALL)
FORMULA = re.compile(r"\$\$(.+?)\$\$|\$([^$\n]+)\$", re.DOTALL)
MAGIC = re.compile(r"^%.*\n", re.MULTILINE)
"""A line of a notebook that is no Python, and that the page of a chapter does not need."""

FIGURE = re.compile(r"<!-- figure: (?P<name>[\w-]+) -->\n```python\n(?P<code>.*?)```", re.DOTALL)
"""A block of code of the gallery that leaves its figure, or axes of it, under the name ``figure``."""

STYLE = {
    "svg.hashsalt": "figures",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": "#666",
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.labelcolor": "#333",
    "grid.color": "#e4e4e0",
    "grid.linewidth": 0.7,
    "xtick.color": "#666",
    "ytick.color": "#666",
    "legend.frameon": False,
    "lines.linewidth": 1.7,
    "axes.formatter.min_exponent": 4,
}
"""How the figures of the gallery look, whatever draws them."""

LINE_ANCHOR = re.compile(r'<a id="[^"]*__codelineno-[^>]* href=[^>]*></a>')
"""A link without a text at the beginning of a line of code, at which a keyboard would stop."""

UNNAMED = {
    re.compile(r'<div class="md-search"[^>]*role="dialog"'): "Search",
    re.compile(r'<label class="md-nav__link " [^>]*id="__nav_\d+_label"[^>]*'): "Pages of the section",
}
"""What the theme leaves without a name for those who do not see it, and its name."""

_SHIM = "https://unpkg.com/iframe-worker/shim"
"""What the theme would load from a network where the site is opened from a folder."""

FONT = "fonts/STIXTwoMath-Regular.woff"
"""The font of formulas, as docs/site.css names it; its licence lies beside it."""

MARK = re.compile(r"formula\d+mark")
"""What stands in the place of a formula while Markdown is read."""

CARDS = re.compile(r'^<div class="cards" markdown="0">\n.*?(?=\n\n|\Z)', re.MULTILINE | re.DOTALL)
"""What Markdown need not read, and takes as long for as for all the rest: HTML up to the first blank line."""

MATH = re.compile(r"<math\b[^>]*>.*?</math>", re.DOTALL)
ELEMENT = re.compile(r"<[^>]*>")
ASIDE = re.compile(r'<math id="aside(\d+)">.*?</math>')
"""A formula, a tag in it, and what the search reads in its place: the same text, without a hundred elements."""

ADDRESS = re.compile(r'( (?:id|href)=")([^"]*)')
"""The name of a place of a page, or a link."""

SCRIPT = re.compile(r"(<script\b[^>]*>).*?</script>|<!--.*?-->", re.DOTALL)
TAG = re.compile(r'<(\w+)\s((?:[^<>"]|"[^"]*")*?\b(?:id|name|href|src)=(?:[^<>"]|"[^"]*")+)>')
ATTRIBUTE = re.compile(r'([\w-]+)=(?:"([^"]*)"|([^\s"]+))')
"""What is no text of a page, a tag that has an address or links to one, and what an attribute says."""

_formulas: dict[str, str] = {}
_cards: list[str] = []
_math: list[str] = []
_awaited: dict[str, Callable[[], str]] = {}


def on_config(config: Any) -> Any:
    """Run the sources that are shown, whatever else is installed: MkDocs takes back what a module does to the path.

    Numpy and sympy are loaded as `fsl` loads them: beside a process a core, threads of matrix products wait for
    each other, and a figure took twelve seconds of processor time instead of a quarter of one.
    """
    sys.path.insert(0, str(ROOT))
    from fsl_num.cli.executors import suited_to_processes

    with suited_to_processes():
        for library in ("numpy", "sympy"):
            import_module(library)
    return config


def on_files(files: Any, config: Any) -> Any:
    """Add the pages of theorems, errata and sources, the style of the cards, the list of changes, and the figures.

    The pages of claims come last, and empty: while other processes verify, all that needs no verdict is made.
    """
    from mkdocs.structure.files import File

    from fsl_num.claims.errata import errata
    from fsl_num.claims.registry import all_claims
    from fsl_num.report import explorer
    from fsl_num.report.html.site import names, pages, sources
    from fsl_num.schedules import SCHEDULES
    from fsl_sym.allocation import table

    if Path(explorer.__file__).parents[3] != ROOT:
        raise RuntimeError(f"the site would show {ROOT}, and run {explorer.__file__}")
    aside = ThreadPoolExecutor(1)
    verdicts = aside.submit(_verdicts)
    aside.shutdown(wait=False)
    made: dict[str, str | bytes] = {"style.css": style(), FONT: font()}
    made["changes.md"] = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    made |= {name: (STYLES / name).read_text(encoding="utf-8") for name in map(str, config["extra_javascript"])}
    optima = table(list(SCHEDULES))
    made["explorer.html"] = explorer.page(table(explorer.SCHEDULES))
    for figure in FIGURE.finditer((ROOT / "docs" / "gallery.md").read_text(encoding="utf-8")):
        made[f"figures/{figure['name']}.svg"] = drawn(figure["code"])
    made |= chapters(config["nav"]) | {f"theorems/{name}": text for name, text in sources(all_claims()).items()}
    for name, content in made.items():
        files.append(File.generated(config, name, content=content))
    of_claims = cache(lambda: pages(verdicts.result(), errata(), all_claims(), optima))
    for name in names(all_claims()):
        files.append(File.generated(config, f"theorems/{name}", content=""))
        _awaited[f"theorems/{name}"] = lambda name=name: of_claims()[name]
    return files


def on_page_read_source(page: Any, **_: Any) -> str | None:
    """The text of a page of claims, for which the first of them waits until all claims are verified."""
    awaited = _awaited.get(page.file.src_uri)
    return awaited() if awaited else None


def chapters(nav: list[dict[str, Any]]) -> dict[str, str | bytes]:
    """A page for each notebook of the navigation, in its order, with the notebook and its pictures, and a page of all.

    What a cell shows is what the notebook keeps: tests execute it, and compare.
    """
    made: dict[str, str | bytes] = {}
    contents = ["# Chapters\n\nEach derives with `fsl_sym`, measures with `fsl_num` and asserts what it shows."]
    contents.append('<div class="doors" markdown>\n')
    for name in next(section["Chapters"] for section in nav if "Chapters" in section)[1:]:
        source = (ROOT / "notebooks" / Path(name).name).with_suffix(".ipynb")
        page, pictures = _chapter(source)
        made |= {name: page, f"chapters/{source.name}": source.read_bytes()} | pictures
        title, opening = page.split("\n\n")[:2]
        about = re.split(r"[.:](?:\s(?![a-z])|$)", opening)[0]
        contents.append(f"- [{title.lstrip('# ')}]({Path(name).name})\n  {about}.")
    return made | {"chapters/index.md": "\n".join([*contents, "\n</div>"])}


def _chapter(source: Path) -> tuple[str, dict[str, str | bytes]]:
    """A notebook as a page, and its pictures."""
    page: list[str] = []
    pictures: dict[str, str | bytes] = {}
    words = ""
    for cell in json.loads(source.read_bytes())["cells"]:
        text = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            words = text
            page.append(text)
            continue
        page.append(f"```python\n{MAGIC.sub('', text)}\n```")
        for kind, outputs in groupby(map(_shown_best, cell["outputs"]), itemgetter(0)):
            shown = [output for _, output in outputs]
            if kind == "image/png":
                names = [f"{source.stem}-{len(pictures) + number}.png" for number, _ in enumerate(shown, 1)]
                pictures |= {f"chapters/{name}": base64.b64decode(png) for name, png in zip(names, shown, strict=True)}
                shown = [f"![{_described(words)}]({name}){{.figure}}" for name in names]
            elif kind == "text/latex":
                shown = [f"$${latex.strip('$')}$$" for latex in shown]
            elif kind == "text/plain":
                shown = ["".join(["```{ .text .no-copy }\n", *(text.rstrip() + "\n" for text in shown), "```"])]
            page.append("\n\n".join(['<div class="output" markdown>', *shown, "</div>"]))
    page.append(f"This page is the notebook [{source.name}]({source.name}), in the clone `notebooks/{source.name}`.")
    return "\n\n".join(page), pictures


def _shown_best(output: dict[str, Any]) -> tuple[str, str]:
    """The kind of a cell's output that says most on a page, and the output in it."""
    data = output.get("data") or {"text/plain": output["text"]}
    kinds = ("image/png", "text/markdown", "text/html", "text/latex", "text/plain")
    kind = next(kind for kind in kinds if kind in data)
    return kind, "".join(data[kind])


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Put marks in the place of formulas and cards, so that Markdown leaves them alone, and show the figures."""

    def marked(formula: re.Match[str]) -> str:
        mark = f"formula{len(_formulas)}mark"
        _formulas[mark] = (formula[1] or formula[2]).strip()
        return f"\n\n{mark}\n\n" if formula[1] else mark

    def set_aside(cards: re.Match[str]) -> str:
        _cards.append(cards[0].replace(' markdown="0"', "", 1))
        return f"cards{len(_cards) - 1}mark"

    parts = CODE.split(FIGURE.sub(_shown, CARDS.sub(set_aside, markdown)))
    return "".join(part if at % 2 else FORMULA.sub(marked, part) for at, part in enumerate(parts))


def on_page_content(html: str, page: Any = None, **_: Any) -> str:
    """Put cards and formulas in, and signs of one line where a page has no room for them: in addresses and contents.

    The trees of formulas are set aside until the search has read the page.
    """
    from fsl_num.report.mathml import display, inline
    from fsl_num.report.plain import plain

    def signs(text: str) -> str:
        return MARK.sub(lambda mark: plain(f"${_formulas[mark[0]]}$"), text)

    def address(text: str) -> str:
        return re.sub(r"[^\w#]+", "-", signs(text)) if MARK.search(text) else text

    headings = list(page.toc) if page else []
    while headings:
        heading = headings.pop()
        heading.title, heading.id = signs(heading.title), address(heading.id)
        headings += heading.children
    html = ADDRESS.sub(lambda match: match[1] + address(match[2]), html)
    alone = re.compile(rf"<p>({MARK.pattern})</p>")
    html = alone.sub(lambda match: f'<div class="cards">{display(_formulas[match[1]])}</div>', html)
    html = MARK.sub(lambda mark: str(inline(_formulas[mark[0]])), html)
    html = re.sub(r"<p>cards(\d+)mark</p>", lambda mark: _cards[int(mark[1])], html)

    def set_aside(formula: re.Match[str]) -> str:
        _math.append(formula[0])
        return f'<math id="aside{len(_math) - 1}">{ELEMENT.sub("", formula[0])}</math>'

    return MATH.sub(set_aside, html)


def on_post_page(output: str, page: Any, **_: Any) -> str:
    """Put the trees of formulas back, take the search's help for pages opened from a folder from the site itself, and
    empty links out of the code, and name what the theme leaves without a name.

    Lines of the sources of claims are linked to, and keep their anchors, which are no links.
    """
    output = ASIDE.sub(lambda formula: _math[int(formula[1])], LINE_ANCHOR.sub("", output))
    for unnamed, name in UNNAMED.items():
        output = unnamed.sub(rf'\g<0> aria-label="{name}"', output)
    return output.replace(_SHIM, f"{page.url.count('/') * '../'}search-from-a-folder.js")


def on_post_build(config: Any) -> None:
    """Raise ValueError where a link of the site leads nowhere."""
    (Path(config["site_dir"]) / "404.html").unlink(missing_ok=True)  # for a server, and with addresses of its own
    broken = sorted(set(broken_links(Path(config["site_dir"]))))
    if broken:
        raise ValueError("these links lead nowhere:\n  " + "\n  ".join(broken))


def broken_links(site: Path) -> Iterator[str]:
    """The links between pages of a folder that lead to no file or no element, and those to a network for loading."""
    pages = {path: _addresses(path.read_text(encoding="utf-8")) for path in site.resolve().rglob("*.html")}

    @cache
    def target_of(folder: Path, link: str) -> tuple[Path, bool]:
        """The file that a link from a folder leads to, and whether there is one."""
        target = (folder / unquote(link)).resolve()
        target = target / "index.html" if target.is_dir() else target
        return target, target.exists()

    for path, (_, links) in pages.items():
        for link, loaded in links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                if loaded and parts.scheme != "data":
                    yield f"{path.name} loads {link} from a network"
                continue
            target, there = target_of(path.parent, parts.path) if parts.path else (path, True)
            if not there:
                yield f"{path.name}: {link}"
            elif parts.fragment and target in pages and unquote(parts.fragment) not in pages[target][0]:
                yield f"{path.name}: {link} (no such element)"


def _addresses(html: str) -> tuple[set[str], list[tuple[str, bool]]]:
    """The ids of a page, and its links with whether they are loaded with it.

    By expressions: a parser takes five times as long for the million elements of the site, and finds the same.
    """
    ids, links = {"__top"}, []
    for element, written in TAG.findall(SCRIPT.sub(r"\1", html)):
        attributes = {key: unescape(quoted or bare) for key, quoted, bare in ATTRIBUTE.findall(written)}
        ids |= {value for key in ("id", "name") if (value := attributes.get(key))}
        if link := attributes.get("src"):
            links.append((link, True))
        if link := attributes.get("href"):
            links.append((link, element == "link" and attributes.get("rel") == "stylesheet"))
    return ids, links


def _verdicts() -> Any:
    from fsl_num.claims.cache import Cache, default_folder
    from fsl_num.claims.registry import claim
    from fsl_num.claims.runner import verify_all
    from fsl_num.cli.executors import cores, executor_at
    from fsl_sym.algebra.printing import latex

    def in_latex(outcome: Any) -> None:
        shown = claim(outcome.claim_id)  # what is printed once is kept, and there is time now
        _ = shown.latex, [latex(step.after) for derivation in shown.derivations() for step in derivation]

    with executor_at("processes", cores()) as executor:
        return verify_all(executor=executor, cache=Cache(default_folder()), progress=in_latex)


def font() -> bytes:
    """The STIX Two Math that the package ziamath brings along, compressed: half as long, and the same."""
    from fontTools.ttLib import TTFont

    source = distribution("ziamath").locate_file("ziamath/fonts/STIXTwoMath-Regular.ttf")
    out = io.BytesIO()
    with TTFont(str(source), recalcTimestamp=False) as font:
        font.flavor = "woff"
        font.save(out)
    return out.getvalue()


def style() -> str:
    """The looks of the whole site."""
    colours, cards = ((STYLES / name).read_text(encoding="utf-8") for name in ("colours.css", "cards.css"))
    own = (ROOT / "docs" / "site.css").read_text(encoding="utf-8")
    return f"{colours}\n.cards {{\n{cards}\n}}\n{own}"


def _shown(figure: re.Match[str]) -> str:
    """The picture, described to those who do not see it by the paragraph before it, and its code."""
    described = _described(figure.string[: figure.start()])
    return f"![{described}](figures/{figure['name']}.svg){{.figure}}\n\n```python\n{figure['code']}```"


def _described(before: str) -> str:
    """The last paragraph of the text before a picture, for those who do not see it."""
    from fsl_num.report.plain import plain

    said = [text for text in before.split("\n\n") if text.strip() and not text.startswith(("$$", "#"))][-1]
    return " ".join(plain(said).split()).replace("[", "(").replace("]", ")")


def drawn(code: str) -> str:
    """The figure that code leaves under the name ``figure``, as SVG."""
    import matplotlib

    matplotlib.use("agg")
    import matplotlib.pyplot as plt

    names: dict[str, Any] = {}
    out = io.StringIO()
    with plt.rc_context(STYLE):
        exec(code, names)
        figure = names["figure"]
        getattr(figure, "figure", figure).savefig(out, format="svg", bbox_inches="tight", metadata={"Date": None})
    plt.close("all")
    return out.getvalue()
