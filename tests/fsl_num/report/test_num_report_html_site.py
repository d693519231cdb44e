"""The pages of the documentation made of claims: each claim has its place, each link its target, no text breaks out."""

import re
from functools import cache

from html_outcomes import erratum, record, runner
from html_reading import Reader

from fsl_num.claims.labels import where
from fsl_num.claims.records import Verdict
from fsl_num.claims.registry import claim
from fsl_num.report.html.site import names, pages, sources
from fsl_sym.allocation import table


@cache
def written():
    claims, records, errata = runner(12)
    return pages(records, errata, claims, table()) | sources(claims)


@cache
def real():
    claims = [claim("lem: half-scale"), claim("thm: wsd")]
    return pages([record(claim.id, Verdict.PROVED) for claim in claims], [], claims, []) | sources(claims)


CARDS = re.compile(r'^<div class="cards".*?</div>(?=\n\n|\Z)', re.MULTILINE | re.DOTALL)
"""HTML in Markdown ends where a blank line follows."""


def cards(text):
    """The HTML inside a page of Markdown; it is well formed only if no blank line cuts it."""
    return [Reader(part).root for part in CARDS.findall(text)]


def ids(text):
    return {node.attributes["id"] for card in cards(text) for node in card.find() if "id" in node.attributes}


def test_the_claims_of_one_label_share_a_page():
    made = [name for name in written() if not name.startswith("source-")]
    assert made == names(runner(12)[0]) == ["index.md", "thm-claim.md", "table-1.md", "errata.md"]
    articles = [node for card in cards(written()["thm-claim.md"]) for node in card.find("article")]
    claims, records, errata = runner(12)
    assert [node.attributes["data-verdict"] for node in articles] == [outcome.verdict for outcome in records]
    assert len([node for card in cards(written()["errata.md"]) for node in card.find("article")]) == len(errata)


def test_a_page_of_several_claims_begins_with_a_list_of_them_and_the_errata_with_one_for_each_kind():
    first, *later_cards = cards(written()["thm-claim.md"])
    verdicts = {outcome.claim_id: outcome.verdict for outcome in runner(12)[1]}
    assert [node.attributes["href"].partition("#")[2] for node in first.find("a")] == [
        node.attributes["id"] for card in later_cards for node in card.find("article")
    ]
    assert [node.text.split()[-1] for node in first.find("li")] == [*verdicts.values()]
    assert "contents" not in real()["lem-half-scale.md"]
    mistakes = [erratum(1, kind="typo"), erratum(2, kind="false as stated"), erratum(3, kind="typo")]
    text = pages([], mistakes, [], [])["errata.md"]
    assert re.findall(r"^## .*|line \d+(?=</a>)|<article", text, re.MULTILINE) == [
        *("## False as stated", "line 112", "<article"),
        *("## Typos", "line 111", "line 113", "<article", "<article"),
    ]


def test_every_link_between_pages_leads_to_an_element():
    for texts in (written(), real()):
        for text in texts.values():
            for card in cards(text):
                for node in card.find("a"):
                    name, _, anchor = node.attributes["href"].partition("#")
                    target = texts[f"{name.removesuffix('.html')}.md"]
                    if name.startswith("source-"):
                        assert int(anchor.removeprefix("__codelineno-0-")) <= len(target.splitlines())
                    else:
                        assert anchor in ids(target)


def test_lemmas_stand_under_the_steps_that_use_them():
    (first, *_) = [chain for card in cards(real()["thm-wsd.md"]) for chain in card.find("div", class_="chain")]
    assert [node.text for node in first.find("summary")][0] == "by “The stable phase”, “The decay phase”"
    assert list(first.find("div", class_="chain"))


def test_a_source_page_holds_the_line_of_the_measurement():
    text = real()["lem-half-scale.md"]
    name, line = re.search(r'Measurement: <a href="(source-[\w-]+)\.html#__codelineno-0-(\d+)"', text).groups()
    code = real()[f"{name}.md"].partition('linenums="1"\n')[2].splitlines()
    assert re.search(r"\bdef\b|\blambda\b", code[int(line) - 1])


def test_an_index_in_the_order_of_the_paper_with_a_verdict_each():
    index = real()["index.md"]
    assert index.index("## 4.4 Steps of the proof") < index.index("## 5.3 Warmup, stable phase, decay")
    assert index.count("| PROVED |") == 2
    assert "| theorem 5.3 (5.4) `thm: wsd` | [" in index
    assert "## What no claim can check" in index


def test_the_gravest_errata_come_first():
    mistakes = [erratum(1, kind="typo"), erratum(2, kind="false as stated")]
    shown = re.findall(r'id="erratum-(erratum-\d)"', pages([], mistakes, [], [])["errata.md"])
    assert shown == ["erratum-2", "erratum-1"]


def test_a_place_is_named_only_where_the_line_is_one_of_it():
    assert where("thm: wsd", 1022).startswith("theorem 3 of section 5, in section 5.3")
    assert where("thm: wsd", 100) == "the abstract, line 100"
