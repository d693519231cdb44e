"""The page in a real browser, on a desk and on a phone, in light and dark, by keyboard and without scripts."""

import re
import subprocess
from pathlib import Path

import pytest
from html_browser import CHROMIUM, Browser
from html_outcomes import claim, record, runner

from fsl_num.report.html import page
from fsl_num.report.html.site import pages

ROOT = Path(__file__).parents[3]
COLOURS = ROOT / "fsl_num" / "report" / "html" / "colours.css"

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium here to render the page")

SCREENS = {"desk": (1280, 900), "window": (920, 800), "tablet": (820, 1100), "phone": (360, 740)}

# What no text may do: leave its box to the right. Boxes that scroll by themselves may hold more than they show.
OVERFLOWING = """
[...document.querySelectorAll('body *')].filter(node => {
  if (node.closest('.skip, [hidden], .scroll, .row, script, svg, math')) return false;
  const box = node.getBoundingClientRect();
  return box.width > 0 && (box.right > innerWidth + 1 || box.left < -1);
}).map(node => node.tagName + '.' + node.className + ' ' + node.textContent.slice(0, 40))
"""


@pytest.fixture(scope="module")
def url(tmp_path_factory):
    claims, records, errata = runner(15)
    target = tmp_path_factory.mktemp("page") / "report.html"
    target.write_text(page(records, errata, claims=claims, profile="quick", seed=0), encoding="utf-8")
    return target.as_uri()


@pytest.fixture(scope="module")
def browser(url):
    with Browser() as browser:
        browser.look(*SCREENS["desk"])
        browser.open(url)
        yield browser


@pytest.fixture
def fresh(browser, url):
    """The page as it opens, on a desk."""
    browser.look(*SCREENS["desk"])
    browser.open("about:blank")
    browser.open(url)
    return browser


def test_the_page_asks_for_nothing_and_complains_of_nothing(fresh, url):
    asked = [
        event["params"]["request"]["url"] for event in fresh.events if event["method"] == "Network.requestWillBeSent"
    ]
    assert url in asked
    assert {address for address in asked if not address.startswith(("data:", "about:"))} == {url}
    wrong = {"Runtime.exceptionThrown", "Log.entryAdded", "Runtime.consoleAPICalled"}
    assert not [event for event in fresh.events if event["method"] in wrong]


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("screen", SCREENS)
def test_nothing_overflows(browser, screen, dark):
    width, height = SCREENS[screen]
    browser.look(width, height, dark=dark)
    browser.evaluate("document.querySelectorAll('details').forEach(each => { each.open = true; })")
    assert browser.evaluate("innerWidth") == width
    assert browser.evaluate("document.documentElement.scrollWidth") <= width
    assert browser.evaluate(OVERFLOWING) == []


def test_the_page_is_dark_where_that_is_preferred(browser):
    grounds = []
    for dark in (False, True):
        browser.look(*SCREENS["desk"], dark=dark)
        grounds.append(browser.evaluate("getComputedStyle(document.body).backgroundColor.match(/\\d+/g).map(Number)"))
    assert min(grounds[0][:3]) > 200 and max(grounds[1][:3]) < 60


def test_formulas_are_laid_out(browser):
    boxes = browser.evaluate(
        "[...document.querySelectorAll('math')].map(node => node.getBoundingClientRect()).map(b => [b.width, b.height])"
    )
    assert len(boxes) > 12
    assert all(width > 8 and height > 8 for width, height in boxes)
    # An exponent stands higher than its base, and smaller: the formula is laid out, not written in a row.
    base, power = browser.evaluate(
        "[...document.querySelector('math msup').children].map(node => node.getBoundingClientRect())"
        ".map(box => [box.bottom, box.height])"
    )
    assert power[0] < base[0] - 1


def test_the_first_tab_reaches_the_skip_link_and_enter_follows_it(fresh):
    fresh.press("Tab", 9)
    assert fresh.evaluate("document.activeElement.className") == "skip"
    box = fresh.evaluate("(b => [b.left, b.top, b.width])(document.activeElement.getBoundingClientRect())")
    assert box[0] >= 0 and box[1] >= 0 and box[2] > 50
    assert fresh.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
    fresh.send("Input.dispatchKeyEvent", type="keyDown", key="Enter", code="Enter", windowsVirtualKeyCode=13, text="\r")
    fresh.send("Input.dispatchKeyEvent", type="keyUp", key="Enter", code="Enter", windowsVirtualKeyCode=13)
    assert fresh.evaluate("new Promise(done => setTimeout(() => done(location.hash), 100))") == "#claims"


def test_every_link_and_fold_is_reached_by_tab(fresh):
    count = fresh.evaluate(
        "[...document.querySelectorAll('a[href], summary, input, select, button')]"
        ".filter(node => node.checkVisibility({visibilityProperty: true})).length"
    )
    fresh.evaluate(
        "window.reached = new Set(); document.addEventListener('focusin', e => window.reached.add(e.target))"
    )
    for _ in range(2 * count):
        fresh.press("Tab", 9)
        if fresh.evaluate("reached.size > 1 && document.activeElement === document.body"):
            break
    reached = fresh.evaluate(
        "[...reached].filter(node => node.matches('a[href], summary, input, select, button')).length"
    )
    assert reached == count


def shown(browser):
    return browser.evaluate("[...document.querySelectorAll('article[data-verdict]')].filter(n => !n.hidden).length")


def test_the_filter_chooses_by_verdict_role_and_words(fresh):
    claims, records, _ = runner(15)
    assert shown(fresh) == 15

    def choose(name, value):
        fresh.evaluate(
            f"(n => {{ n.value = {value!r}; n.dispatchEvent(new Event('input', {{bubbles: true}})); }})"
            f"(document.getElementById('filter').elements[{name!r}])"
        )
        return shown(fresh)

    assert choose("verdict", "REFUTED") == sum(outcome.verdict == "REFUTED" for outcome in records)
    said = fresh.evaluate("document.getElementById('shown').textContent")
    assert said == f"{shown(fresh)} of 15 claims shown"
    assert choose("verdict", "") == 15
    assert choose("role", "stronger") == sum(claim.role == "stronger" for claim in claims)
    choose("role", "")
    assert choose("words", "many words") == 1
    # A link to a claim that is hidden shows it again.
    fresh.evaluate("location.hash = '#claim-thm-claim-1'; new Promise(done => setTimeout(done, 100))")
    assert shown(fresh) == 15


def best(page_shown, words):
    page_shown.evaluate(
        f"(n => {{ n.value = {words!r}; n.dispatchEvent(new Event('input', {{bubbles: true}})); }})"
        "(document.getElementById('filter').elements.words)"
    )
    return page_shown.evaluate("[...document.querySelectorAll('#ranked li')].map(n => n.textContent)")


def test_the_search_puts_titles_first_and_needs_no_exact_phrase(fresh):
    assert best(fresh, "12 claim")[0] == "The claim number 12"
    assert best(fresh, "12 theorem")[0] == "The claim number 12"  # one word stands in the title, the other nowhere
    assert best(fresh, "") == []


def test_the_search_finds_the_theorem_before_what_is_said_of_it(fresh, tmp_path):
    own = {"label": "thm: wsd", "line": 1023}
    claims = [
        claim(1, id="thm: wsd/edge", title="WSD: the edge of the theorem", **own),
        claim(2, id="thm: wsd", title="a stable phase, then a decay", **own),
    ]
    target = tmp_path / "report.html"
    target.write_text(page([record(claim.id) for claim in claims], [], claims=claims, profile="quick", seed=0))
    fresh.open(target.as_uri())
    assert best(fresh, "WSD theorem") == ["A stable phase, then a decay", "WSD: the edge of the theorem"]
    assert best(fresh, "edge")[0] == "WSD: the edge of the theorem"


def test_brackets_grow_with_a_fraction(fresh):
    installed = subprocess.run(["fc-list", ":", "family"], capture_output=True, text=True).stdout
    if "Math" not in installed:  # whatever the page asks for: a font that it does not name is no excuse
        pytest.skip("no font of formulas is installed here")
    # three lines high, so that a bracket of one line is seen to be too low
    high = "<mfrac><mfrac><mi>a</mi><mi>b</mi></mfrac><mfrac><mi>c</mi><mi>d</mi></mfrac></mfrac>"
    heights = fresh.evaluate(
        f"document.body.insertAdjacentHTML('beforeend', '<math display=block><mo>(</mo>{high}<mo>)</mo></math>'); "
        "[...[...document.querySelectorAll('math')].at(-1).children].map(node => node.getBoundingClientRect().height)"
    )
    assert min(heights[0], heights[2]) > 0.9 * heights[1]


def test_the_graph_fits_its_frame_on_a_desk_and_is_not_shrunk_on_a_phone(browser):
    measure = "(n => [n.scrollWidth - n.clientWidth, n.querySelector('rect').getBoundingClientRect().width])"
    seen = {}
    for screen in SCREENS:
        browser.look(*SCREENS[screen])
        seen[screen] = browser.evaluate(f"{measure}(document.querySelector('.graph'))")
    assert seen["desk"][0] == 0 and seen["desk"][1] > 180
    assert seen["phone"][0] > 0 and seen["phone"][1] > 160


@pytest.mark.parametrize("where", ["report", "site"])
def test_the_graph_shows_what_rests_on_a_claim(fresh, tmp_path, where):
    if where == "site":  # there the graph is of one theorem, and its links name the page of each claim
        own = {"label": "thm: wsd", "line": 1023, "role": "own", "strengthens": None}
        claims = [
            claim(1),
            claim(2, id="thm: wsd", depends=("thm: claim/1",), **own),
            claim(3, id="thm: wsd/other", **own),
        ]
        texts = pages([record(claim.id) for claim in claims], [], claims, [])
        (tmp_path / "theorem.html").write_text(texts["thm-wsd.md"])
        fresh.open((tmp_path / "theorem.html").as_uri())
        [scripts] = re.findall(r"^extra_javascript: \[(.*)\]", (ROOT / "mkdocs.yml").read_text(), re.MULTILINE)
        for script in scripts.split(", "):
            fresh.evaluate((ROOT / "fsl_num" / "report" / "html" / script).read_text())

    def far(event):
        fresh.evaluate(f"document.querySelector('.graph a').dispatchEvent(new PointerEvent({event!r}))")
        return fresh.evaluate("document.querySelectorAll('.graph .far').length")

    assert 0 < far("pointerenter") < fresh.evaluate("document.querySelectorAll('.graph a, .graph .edge').length")
    assert far("pointerleave") == 0


def test_the_page_is_whole_without_scripts(fresh, url):
    fresh.send("Emulation.setScriptExecutionDisabled", value=True)
    try:
        fresh.open("about:blank")
        fresh.open(url)
        assert shown(fresh) == 15
        assert fresh.evaluate("document.getElementById('filter').checkVisibility()") is False
    finally:
        fresh.send("Emulation.setScriptExecutionDisabled", value=False)


def test_on_paper_the_ink_is_dark(fresh):
    fresh.look(*SCREENS["desk"], dark=True, media="print")
    colours = fresh.evaluate(
        "['color', 'backgroundColor'].map(name => getComputedStyle(document.body)[name].match(/\\d+/g).map(Number))"
    )
    assert max(colours[0]) < 60 and min(colours[1]) > 200


def test_on_paper_the_folds_are_open_and_the_filter_is_gone(fresh):
    fresh.look(*SCREENS["desk"], media="print")
    assert fresh.evaluate("getComputedStyle(document.querySelector('form')).display") == "none"
    assert fresh.evaluate("document.querySelector('details td').getBoundingClientRect().height") > 0


def test_what_is_wider_than_its_frame_is_reached_by_the_keyboard(fresh):
    wide = "[...document.querySelectorAll('.row, .wrong, .right')].filter(node => node.scrollWidth > node.clientWidth)"
    fresh.evaluate("document.fonts.ready.then(() => 0)")
    on_a_desk = fresh.evaluate(f"{wide}.length")
    fresh.look(120, 740)  # as narrow as the largest letters make a phone
    fresh.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
    assert fresh.evaluate(f"{wide}.length") > on_a_desk
    assert fresh.evaluate(f"{wide}.filter(node => node.tabIndex !== 0).length") == 0
