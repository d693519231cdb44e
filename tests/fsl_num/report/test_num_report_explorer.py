"""The explorer: alone in the world, and its small solver against the package, in a real browser where there is one."""

import json
import math
import re
from fractions import Fraction
from functools import cache
from itertools import product

import numpy as np
import pytest
from html_browser import CHROMIUM, Browser
from html_reading import Reader

from fsl_num import Discrete, Model, Problem, functional_scaling_law, solve
from fsl_num.cli import main
from fsl_num.report.explorer import SCHEDULES, page
from fsl_sym.allocation import optimal_allocation, table

browser_only = pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium")
POINTS = [(0.5, 2.0, 1000, 1.0, 10_000, 0.2), (1.0, 2.0, 100, 0.1, 1000, 0.1), (0.3, 3.0, 30, 10.0, 300, 0.05)]
WITHIN = 0.01
"""The page claims a per cent."""


@cache
def written():
    return page(table(SCHEDULES))


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    target = tmp_path_factory.mktemp("explorer") / "explorer.html"
    target.write_text(written(), encoding="utf-8")
    with Browser() as opened:
        opened.open(target.as_uri())
        yield opened


def test_the_page_is_alone_in_the_world():
    root = Reader(re.sub(r"<script.*?</script>", "", written(), flags=re.DOTALL)).root
    for node in root.find():
        assert node.attributes.get("href", "data:,") == "data:,"
        assert "src" not in node.attributes
    assert not re.search(r"https?://|fetch\(|XMLHttp|import\(", written().replace("http://www.w3.org/1998", ""))
    names = {node.attributes["name"] for tag in ("input", "select") for node in root.find(tag)}
    assert names == {"s", "beta", "size", "noise", "steps", "peak", "schedule", "budget"}
    labels = [label for label in root.find("label") if label.text.strip()]
    assert len(labels) == len(names)  # every control says what it is


@pytest.mark.parametrize(("s", "beta"), [("2/5", "5/2"), ("1/2", "2"), ("2", "3/2"), ("1/2", "3"), ("2/3", "3")])
def test_the_table_holds_the_exponents_of_the_package(s, beta):
    def value(code):
        return eval(code, {"s": Fraction(s), "beta": Fraction(beta), "Math": math})

    held = json.loads(re.search(r'id="table">(.*?)</script>', written(), re.DOTALL)[1])
    assert {(entry["schedule"], entry["budget"]) for entry in held} == set(product(SCHEDULES, ("data", "compute")))
    for entry in held:
        true = optimal_allocation(entry["schedule"], entry["budget"]).at(s, beta)
        (here,) = [
            regime
            for regime in entry["regimes"]
            if all(eval(f"{value(code)!r} {relation} 0", {"Fraction": Fraction}) for code, relation in regime["where"])
        ]
        assert here["name"] == true.name
        risk = true.quantities["excess_risk"].lower
        (row,) = [row for row in here["optimum"] if row["name"] == "excess risk"]
        exponents = [float(value(code)) for code in row["lower"]]
        assert exponents == pytest.approx([float(risk.power), float(risk.log_power)])


@browser_only
def test_every_schedule_has_its_optimum_on_both_sides_of_each_edge(browser):
    assert json.loads(browser.evaluate("JSON.stringify(Object.keys(solver.shapes))")) == list(SCHEDULES)
    for schedule, beta in product(SCHEDULES, ("1.5", "2", "3")):
        for s in ("0.5", "2"):
            shown = browser.evaluate(
                f"""(() => {{
                    const form = document.getElementById('controls'), given = {{s: '{s}', beta: '{beta}'}};
                    for (const [name, value] of Object.entries({{...given, schedule: '{schedule}'}}))
                        form.elements[name].value = value;
                    form.dispatchEvent(new Event('input', {{bubbles: true}}));
                    return new Promise(done => setTimeout(() => done(document.getElementById('cell').textContent), 60));
                }})()"""
            )
            true = optimal_allocation(schedule, "data").at(Fraction(s), Fraction(beta)).name
            assert shown == f"Optimum of {schedule}, {true.replace('beta', 'β')}:", (schedule, s, beta)


@browser_only
@pytest.mark.parametrize("point", POINTS)
@pytest.mark.parametrize("law", ["volterra", "functional"])
def test_the_losses_are_those_of_the_package(browser, point, law):
    s, beta, size, noise, steps, peak = point
    model = json.dumps({"s": s, "beta": beta, "size": size, "noise": noise})
    for name in ("wsd", "cosine"):
        plan = browser.evaluate(f"JSON.stringify(solver.plan({name!r}, {peak}, {steps}))")
        marks, rates = json.loads(plan)["marks"], json.loads(plan)["rates"]
        risks = json.loads(browser.evaluate(f"JSON.stringify(solver.risks({model}, {plan}, {law!r}))"))
        gamma = Discrete(rates=np.repeat(rates, np.diff(marks)))
        package = Model(s=s, beta=beta, size=size, noise=noise)
        for at in (len(marks) // 2, len(marks) - 1):
            if law == "volterra":
                time = gamma.intrinsic_time(marks[at])
                true = float(solve(Problem(package, gamma=gamma), [time]).excess_risk[0])
            else:
                true = functional_scaling_law(package, Discrete(rates=gamma.rates[: marks[at]])).total
            assert risks[at] == pytest.approx(true, rel=WITHIN), (name, marks[at])


@browser_only
@pytest.mark.parametrize("point", POINTS)
def test_the_best_schedule_is_better_than_the_named_ones(browser, point):
    s, beta, size, noise, steps, peak = point
    model = json.dumps({"s": s, "beta": beta, "size": size, "noise": noise})
    best = json.loads(browser.evaluate(f"JSON.stringify(solver.best({model}, {peak}, {steps}))"))
    rates = np.repeat(best["rates"], np.diff(best["marks"]))
    assert rates.min() >= 0 and rates.max() <= peak
    package = Model(s=s, beta=beta, size=size, noise=noise)
    own = functional_scaling_law(package, Discrete(rates=rates)).total
    assert best["risk"] == pytest.approx(own, rel=2 * WITHIN)  # the search takes fewer modes
    for name in SCHEDULES:
        plan = f"solver.plan({name!r}, {peak}, {steps})"
        risks = json.loads(browser.evaluate(f"JSON.stringify(solver.risks({model}, {plan}, 'functional'))"))
        assert own <= risks[-1] * (1 + 2 * WITHIN), name


@browser_only
def test_what_is_moved_is_followed(browser):
    def move(name, value):
        browser.evaluate(
            f"(n => {{ n.value = {value!r}; n.dispatchEvent(new Event('input', {{bubbles: true}})); }})"
            f"(document.getElementById('controls').elements.{name});"
            "new Promise(done => setTimeout(done, 1500))"
        )
        return {
            name: browser.evaluate(f"document.getElementById({name!r}).textContent") for name in ("regime", "risk-said")
        }

    assert move("s", "0.2")["regime"].startswith("A hard task: s = 0.2")
    before = move("s", "2")
    assert before["regime"].startswith("An easy task: s = 2")
    after = move("schedule", "cosine")
    assert "cosine" in after["risk-said"] and after["risk-said"] != before["risk-said"]
    assert browser.evaluate("document.querySelectorAll('#risk .curve').length") == 8
    assert not [event for event in browser.events if event.get("method") == "Runtime.exceptionThrown"]


@browser_only
def test_every_control_says_what_it_is_and_where_it_stands(browser):
    said = json.loads(
        browser.evaluate(
            "JSON.stringify([...document.getElementById('controls').querySelectorAll('input, select')].map(each => "
            "[each.labels.length, each.type, each.getAttribute('aria-valuetext'), each.labels[0]?.textContent]))"
        )
    )
    assert len(said) == 8
    for labels, kind, value, label in said:
        assert labels == 1 and (kind != "range" or value in label)


@browser_only
@pytest.mark.parametrize("width", [360, 820, 1280])
def test_the_letters_of_a_figure_are_not_shrunk_with_it(browser, width):
    browser.look(width, 800)
    browser.evaluate("new Promise(done => setTimeout(done, 1500))")
    shown = json.loads(
        browser.evaluate("JSON.stringify([...document.querySelectorAll('svg')].map(each => each.getScreenCTM().a))")
    )
    assert min(shown) >= 0.99  # 12 pixels stay 12, but for the rounding of a width
    browser.look(1280, 800)


@browser_only
def test_on_a_phone_no_factor_of_an_optimum_is_broken_in_two_lines(browser):
    browser.look(360, 800)
    lines = "[...document.querySelectorAll('#exponents .factor')].map(factor => factor.getClientRects().length)"
    shown = json.loads(browser.evaluate(f"JSON.stringify({lines})"))
    assert len(shown) > 3 and set(shown) == {1}
    assert browser.evaluate("document.documentElement.scrollWidth") <= 360
    browser.look(1280, 800)


def test_the_command_writes_the_page(tmp_path, capsys):
    target = tmp_path / "explorer.html"
    assert main(["explore", "--html", str(target), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["schedules"] == list(SCHEDULES)
    assert target.read_text(encoding="utf-8") == written()
    assert main(["explore"]) == 2
