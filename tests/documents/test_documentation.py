"""The documentation says only what is true: its commands print what stands below them, its code runs."""

import base64
import doctest
import importlib
import inspect
import io
import json
import os
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace

import material
import pytest
from documentation import BLOCK, PAGES, ROOT, commands, run, same, workplace
from fontTools.ttLib import TTFont
from html_browser import CHROMIUM, Browser
from html_outcomes import record
from markdown import Markdown
from mkdocs.structure.toc import get_toc
from mkdocs.utils import yaml_load

import fsl_num
import fsl_sym
from fsl_num.claims.errata import errata
from fsl_num.claims.label_table import PLACES
from fsl_num.claims.records import Verdict
from fsl_num.claims.registry import claim
from fsl_num.report.html.site import pages

sys.path.insert(0, str(ROOT / "docs"))
hooks = importlib.import_module("hooks")

TEXTS = {page.relative_to(ROOT).as_posix().removeprefix("docs/"): page.read_text(encoding="utf-8") for page in PAGES}
FIRST = ("README.md", "CONTRIBUTING.md")
FIGURES = {figure["name"]: figure["code"] for figure in hooks.FIGURE.finditer(TEXTS["gallery.md"])}


def test_markdown_reads_no_card():
    """It would take as long as for all the rest; on the page they stand as they were written."""
    known = claim("lem: half-scale")
    made = pages([record(known.id, Verdict.PROVED)], [], [known], [])
    (text,) = (text for name, text in made.items() if "half" in name)
    marked = hooks.on_page_markdown(text)
    assert "<article" in text and "<" not in marked
    shown = hooks.on_page_content(Markdown().convert(marked))
    assert shown.count("<article") == text.count("<article") and "mark" not in re.sub("<[^>]*>", "", shown)


@pytest.mark.parametrize("page", [name for name, text in TEXTS.items() if BLOCK.search(text)])
def test_commands_print_what_stands_below_them(page):
    with workplace():
        for block in BLOCK.findall(TEXTS[page]):
            for command, written in commands(block):
                printed = run(command)
                assert same(written, printed), f"{command}\nprints now (python tests/documentation.py):\n{printed}"


def test_another_number_or_word_is_another_output():
    assert same("loss 1.8212 in ... s\n", "loss 1.8212 in 3.25 s\n")
    assert same("loss 1.8212, file.py:12\n", "loss 1.8214, file.py:97\n")
    assert not same("loss 1.8212 in ... s, 30 of 30\n", "loss 1.8212 in 3.25 s, 60 of 60\n")
    for changed in ("loss 1.8312, file.py:12\n", "risk 1.8212, file.py:12\n", "loss 1.8212, file.py:12 7\n"):
        assert not same("loss 1.8212, file.py:12\n", changed)


@pytest.mark.parametrize("page", [name for name, text in TEXTS.items() if ">>> " in text and name != "README.md"])
def test_the_examples_run(page, monkeypatch):
    monkeypatch.chdir(ROOT)
    result = doctest.testfile(str(ROOT / "docs" / page), module_relative=False)
    assert result.attempted >= 2
    assert result.failed == 0


@pytest.mark.parametrize("name", FIGURES)
def test_figures_are_drawn(name, monkeypatch):
    monkeypatch.chdir(ROOT)
    assert hooks.drawn(FIGURES[name]).count("<path") > 10


def test_the_gallery_has_a_dozen_figures_and_no_other_code():
    assert len(FIGURES) >= 12
    assert TEXTS["gallery.md"].count("```python") == len(FIGURES)
    assert max(len(line) for code in FIGURES.values() for line in code.splitlines()) <= 88  # the column of a desk


def test_commands_that_are_not_run_here_are_those_of_the_first_pages_or_scripts_of_the_clone():
    first = " ".join(" ".join((ROOT / name).read_text(encoding="utf-8") for name in FIRST).split())
    for text in TEXTS.values():
        for block in re.findall(r"^```bash\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
            for line in block.splitlines():
                script = re.match(r"python (tests/\S+\.py) ", line)
                assert (ROOT / script[1]).is_file() if script else line in first, line


def test_every_formula_is_typeset():
    from fsl_num.report.mathml import display, inline

    for name, text in TEXTS.items():
        prose = "".join(hooks.CODE.split(text)[::2])
        for formula in hooks.FORMULA.finditer(prose):
            shown = display(formula[1]) if formula[1] else inline(formula[2])
            assert "formula source" not in shown and "<code" not in shown, (name, formula[0])


def test_a_source_of_a_public_name_is_a_place_of_the_paper():
    places = {place.label for place in PLACES} | {"sec:CLRS"}
    sources = [
        (name, " ".join(source.split()))
        for package in (fsl_sym, fsl_num)
        for name in package.__all__
        for source in re.findall(r"Source: (.+?)(?:\n\n|\Z)", inspect.getdoc(getattr(package, name)) or "", re.DOTALL)
    ]
    assert len(sources) >= 45
    assert [source for source in sources if not any(label in source[1] for label in places)] == []


def test_the_site_is_built_with_numpy_and_sympy_as_the_command_loads_them():
    """What sympy remembers shows it; the threads of numpy are set in the same place."""
    code = "import hooks; hooks.on_config({}); from sympy.core import cache; print(cache.SYMPY_CACHE_SIZE)"
    bare = {name: value for name, value in os.environ.items() if name != "SYMPY_CACHE_SIZE"}
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT / "docs", env=bare, capture_output=True, text=True)
    assert done.stdout == "20000\n", done.stderr


@pytest.mark.skipif(CHROMIUM is None or not find_spec("ziamath"), reason="without a browser, or the font's package")
def test_formulas_of_the_site_are_drawn_with_its_own_font(tmp_path):
    (tmp_path / "fonts").mkdir()
    (tmp_path / hooks.FONT).write_bytes(hooks.font())
    (tmp_path / "style.css").write_text(hooks.style(), encoding="utf-8")
    marked = hooks.on_page_markdown(r"$$\left(\frac{M}{\beta}\right)^{-s} \lesssim \sum_j \lambda_j$$")
    formula = hooks.on_post_page(hooks.on_page_content(marked), SimpleNamespace(url="page.html"))
    page = f'<link rel="stylesheet" href="style.css"><div class="md-typeset">{formula}</div>'
    (tmp_path / "page.html").write_text(f"<!DOCTYPE html><meta charset=utf-8>{page}", encoding="utf-8")
    with Browser() as browser:
        browser.open((tmp_path / "page.html").as_uri())
        browser.evaluate("document.fonts.ready.then(() => 1)")
        browser.send("DOM.enable")
        browser.send("CSS.enable")
        root = browser.send("DOM.getDocument")["root"]["nodeId"]
        drawn = [
            (font["familyName"], font["isCustomFont"])
            for node in browser.send("DOM.querySelectorAll", nodeId=root, selector="mi, mo, mn")["nodeIds"]
            for font in browser.send("CSS.getPlatformFontsForNode", nodeId=node)["fonts"]
        ]
        bracket, fraction = browser.evaluate(
            "['mo', 'mfrac'].map(name => document.querySelector(name).getBoundingClientRect().height)"
        )
    assert len(drawn) >= 8 and set(drawn) == {("STIX Two Math", True)}
    assert bracket > 0.9 * fraction
    notice, *_ = (ROOT / "docs" / "fonts" / "STIXTwoMath-OFL.txt").read_text().split("\n\n")
    assert notice.splitlines()[1].encode("utf-16-be") in TTFont(io.BytesIO(hooks.font())).reader["name"]


def test_a_figure_is_described_by_the_words_before_it():
    shown = hooks.on_page_markdown("## A\n\nWhat $t \\ll M$ shows.\n\n<!-- figure: a -->\n```python\n1\n```\n")
    assert "![What t≪M shows.](figures/a.svg){.figure}" in shown
    described = re.findall(r"!\[(.*?)\]\(figures", hooks.on_page_markdown(TEXTS["gallery.md"]))
    assert len(described) == len(hooks.FIGURE.findall(TEXTS["gallery.md"])) and all(
        len(text) > 30 for text in described
    )


def test_no_key_stops_at_a_line_of_code():
    page = SimpleNamespace(url="a/b.html")
    kept = '<a id="__codelineno-0-1" name="__codelineno-0-1"></a>'
    empty = '<a id="x--__codelineno-0-1" name="x--__codelineno-0-1" href="#x--__codelineno-0-1"></a>'
    assert hooks.on_post_page(f"<p>{kept}{empty}1</p>", page) == f"<p>{kept}1</p>"


def test_what_the_theme_leaves_without_a_name_has_one():
    search = (Path(material.__file__).parent / "templates" / "partials" / "search.html").read_text(encoding="utf-8")
    assert 'role="dialog" aria-label="Search">' in hooks.on_post_page(search, SimpleNamespace(url="a.html"))


def test_every_notebook_is_a_chapter_with_what_it_shows():
    made = hooks.chapters(yaml_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))["nav"])
    for path in (ROOT / "notebooks").glob("*.ipynb"):
        page, notebook = made[f"chapters/{path.stem}.md"], json.loads(made[f"chapters/{path.name}"])
        outputs = [output for cell in notebook["cells"] for output in cell.get("outputs", ())]
        assert outputs and made["chapters/index.md"].count(f"({path.stem}.md)") == 1
        assert all("".join(output["text"]).strip() in page for output in outputs if "text" in output)
        pictures = [output["data"]["image/png"] for output in outputs if "image/png" in output.get("data", {})]
        shown = re.findall(r"!\[.{30,}\]\((.+)\){.figure}", page)
        assert [made[f"chapters/{name}"] for name in shown] == [*map(base64.b64decode, pictures)]
        html = Markdown(extensions=["md_in_html", "pymdownx.superfences"]).convert(hooks.on_page_markdown(page))
        prose = re.sub(
            r"<pre.*?</pre>|<code.*?</code>| data-tex=\"[^\"]*\"", "", hooks.on_page_content(html), flags=re.DOTALL
        )
        assert prose.count("<math") > 3 and not re.search(r"\$|\dpt\]|formula\d+mark", prose)


def test_a_formula_of_a_heading_is_signs_in_its_address_and_in_the_contents():
    markdown = Markdown(extensions=["toc"])
    html = markdown.convert(hooks.on_page_markdown("## The noise $I_1$"))
    page = SimpleNamespace(toc=get_toc(markdown.toc_tokens), url="a.html")
    searched = hooks.on_page_content(html, page)
    assert ">I1</math>" in searched and "<msub>" not in searched
    assert hooks.on_post_page(searched, page).startswith('<h2 id="the-noise-I_1">The noise <math><mrow><msub>')
    assert [(heading.title, heading.url) for heading in page.toc] == [("The noise I_1", "#the-noise-I_1")]


def test_every_public_name_is_documented_once():
    listed = [name for text in TEXTS.values() for name in re.findall(r"^::: (\S+)$", text, re.MULTILINE)]
    public = [f"{package.__name__}.{name}" for package in (fsl_sym, fsl_num) for name in package.__all__]
    assert sorted(listed) == sorted(public)


def test_a_link_that_leads_nowhere_is_found(tmp_path):
    (tmp_path / "a.html").write_text('<p id="x"></p><a href="b.html#y">b</a><a href="#z">z</a><a href="c.html">c</a>')
    (tmp_path / "b.html").write_text(
        '<p id="y"></p><a href="a.html#x">a</a><script src="https://b.example/c.js"></script>'
    )
    assert sorted(hooks.broken_links(tmp_path)) == [
        "a.html: #z (no such element)",
        "a.html: c.html",
        "b.html loads https://b.example/c.js from a network",
    ]


def test_the_second_reading_names_every_entry_as_the_ledger_does():
    row = re.compile(r"^\| (\d+) \| ([\w-]+) \| ([a-z ]+) \|", re.M)
    read = {(int(line), entry, kind) for line, entry, kind in row.findall(TEXTS["second-reading.md"])}
    assert read == {(erratum.line, erratum.id, erratum.kind) for erratum in errata()}
