"""The page of the report: whole, well formed, alone in the world, and safe whatever the texts hold."""

import re
from functools import cache

import pytest
from html_outcomes import WILD, claim, record, runner
from html_reading import Reader, contrast

from fsl_num.claims.records import Verdict
from fsl_num.report.html import page


@cache
def written(size=12):
    claims, records, errata = runner(size)
    return page(records, errata, claims=claims, profile="quick", seed=7, date="a day", versions={"numpy": "2.0"})


@cache
def read(size=12):
    return Reader(written(size)).root


def test_the_page_is_one_document_in_english():
    reader = Reader(written())
    assert reader.doctype == "DOCTYPE html"
    (html,) = reader.root.find("html")
    assert html.attributes["lang"] == "en"
    assert [len(list(html.find(tag))) for tag in ("h1", "main", "nav", "header", "footer")] == [1] * 5
    assert next(html.find("title")).text.startswith("Functional scaling laws")
    said = next(html.find("header")).text
    assert all(words in said for words in ("profile quick", "seed 7", "checked a day", "numpy 2.0"))


def test_ids_are_unique_and_links_lead_somewhere():
    nodes = list(read().find())
    ids = [node.attributes["id"] for node in nodes if "id" in node.attributes]
    assert len(ids) == len(set(ids))
    targets = [node.attributes["href"] for node in nodes if node.tag == "a"]
    assert targets
    assert {target[1:] for target in targets} <= set(ids)
    for key in ("aria-labelledby", "for"):
        assert {node.attributes[key] for node in nodes if key in node.attributes} <= set(ids)
    assert all(re.fullmatch(r"[A-Za-z][\w-]*", identifier) for identifier in ids)


def test_no_link_stands_in_a_link():
    assert [node.text for node in read().find("a") if list(node.find("a"))] == []
    (article,) = read().find("article", id="claim-thm-claim-9")
    assert [node.text for node in next(article.find("h4")).find("a")] == ["thm: claim/1"]
    assert "What thm: claim/1 leaves" in next(read().find("section", id="summary")).text


def test_nothing_is_loaded_from_elsewhere():
    for node in read().find():
        assert node.tag not in {"img", "iframe", "object", "embed", "base", "audio", "video", "image"}
        for key in ("src", "href", "srcset", "action", "data", "xlink:href"):
            value = node.attributes.get(key, "#")
            assert value.startswith("#") or value == "data:,", (node.tag, value)
        assert not [key for key in node.attributes if key.startswith("on")]
    assert not re.search(r"url\((?!#)|@import|//", style_sheet())
    (script,) = read().find("script")
    assert "src" not in script.attributes
    assert not re.search(r"fetch|XMLHttp|import\(|https?:", script.text)


def codes(article):
    """The code in the line that says where a claim stands."""
    return [code.text for where in article.find("p", class_="where") for code in where.find("code")]


def test_every_claim_and_erratum_has_its_article():
    claims, records, errata = runner()
    articles = {node.attributes["id"]: node for node in read().find("article")}
    assert len(articles) == len(claims) + len(errata)
    for subject, outcome in zip(claims, records, strict=True):
        article = next(node for node in articles.values() if subject.id in codes(node))
        assert article.attributes["data-verdict"] == outcome.verdict
        assert article.attributes["data-role"] == subject.role
        assert outcome.verdict.value in article.text
        assert f"line {subject.line}" in article.text
        if outcome.mutants_total:
            assert f"{outcome.mutants_refuted} of {outcome.mutants_total}" in article.text
        if subject.formula.startswith("e_M"):
            assert next(article.find("div", class_="formula")).attributes["data-tex"] == subject.formula
        assert ("With what probability" in article.text) == bool(subject.probability)
    for erratum in errata:
        article = articles[f"erratum-{erratum.id}"]
        assert erratum.kind in article.text
        assert f"line {erratum.line}" in article.text
        assert erratum.wrong in article.text
        assert (f"Repeat it: {erratum.command}" in article.text) == bool(erratum.command)


def test_the_verdict_is_never_said_by_colour_alone():
    marks = {"PROVED": "■", "ENCLOSED": "⊂", "SUPPORTED": "✓", "REFUTED": "✗", "UNKNOWN": "?", "VACUOUS": "∅"}
    (graph,) = read().find("section", id="graph")
    nodes = list(graph.find("a"))
    assert len(nodes) == 12
    for node in nodes:
        verdict = node.attributes["aria-label"].rpartition(": ")[2]
        assert marks[verdict] in [text.text for text in node.find("text")]
    for badge in (node for node in read().find("span") if "badge" in node.attributes.get("class", "")):
        mark, word = badge.text.split()
        assert marks[word] == mark


def test_the_claims_stand_in_the_order_and_sections_of_the_paper():
    headings = [node.text for node in read().find("h3", class_="section")]
    assert headings == ["Abstract", "1 Introduction"]
    lines = [int(re.search(r"line (\d+)", article.text)[1]) for article in read().find("article", class_=None)]
    assert lines == sorted(lines)


def test_every_wrong_version_says_where_and_by_how_much_it_was_rejected():
    article = next(node for node in read().find("article") if "thm: claim/3" in codes(node))
    reasons = [node.text for node in next(article.find("dl", class_="mutants")).find("dd")]
    assert len(reasons) == 2  # one a version: the same in every regime
    assert "easy, edge, hard: drift 0.001" in reasons


def test_derivations_are_shown_step_by_step():
    from html_outcomes import record

    from fsl_num.claims.registry import claim as registered

    shown = page([record("thm: wsd")], [], profile="quick", seed=0, claims=[registered("thm: wsd")])
    chains = list(Reader(shown).root.find("div", class_="chain"))
    assert len(chains) == len(registered("thm: wsd").derivations())
    assert "by “The stable phase”, “The decay phase”" in chains[0].text
    assert not list(chains[0].find("div", class_="chain"))  # lemmas are named here, and shown on pages of their own


def test_links_of_claims_go_both_ways():
    def facts(claim_id):
        (article,) = read().find("article", id=claim_id)
        (facts,) = article.find("dl", class_="facts")
        names = [node.text for node in facts.find("dt")]
        return dict(zip(names, facts.find("dd"), strict=True))

    def targets(node):
        return [link.attributes["href"][1:] for link in node.find("a")]

    assert targets(facts("claim-thm-claim-5")["Corrected by"]) == ["claim-thm-claim-6"]
    assert targets(facts("claim-thm-claim-6")["Corrects"]) == ["claim-thm-claim-5"]
    assert targets(facts("claim-thm-claim-2")["Rests on"]) == ["claim-thm-claim-1"]
    assert targets(facts("claim-thm-claim-1")["Used by"]) == ["claim-thm-claim-2"]
    assert targets(facts("claim-thm-claim-3")["Strengthens"]) == ["claim-thm-claim-0"]
    assert "claim-thm-claim-3" in targets(facts("claim-thm-claim-0")["Strengthened by"])
    assert targets(facts("claim-thm-claim-1")["Errata"]) == ["erratum-erratum-0"]
    (entry,) = read().find("article", id="erratum-erratum-0")
    assert {"claim-thm-claim-1", "erratum-erratum-0"} <= set(targets(entry))


def test_formulas_are_typeset_or_shown_in_their_source():
    articles = list(read().find("article", class_=None))
    typeset = [any(True for _ in node.find("math")) for node in articles]
    source = [node for node in read().find("div", class_="formula source")]
    assert typeset.count(False) == len(source)
    assert r"\nosuchcommand{x}" in [node.text for node in source]
    for node in source:
        (code,) = node.find("code")
        assert code.attributes["aria-label"] == f"formula in LaTeX: {code.text}"


def test_survivors_stand_in_the_open():
    (article,) = read().find("article", id="claim-thm-claim-3")
    hidden = "".join(node.text for node in article.find("details"))
    assert article.text.count("Mutants that the check accepts:") == 1
    assert "Mutants that the check accepts:" not in hidden
    (sound,) = read().find("article", id="claim-thm-claim-0")
    assert "accepts" not in sound.text


def test_drawings_have_words_and_their_values_stand_in_tables():
    drawings = [node for node in read().find("svg") if node.attributes.get("aria-hidden") != "true"]
    assert len(drawings) > 10
    assert all(node.attributes["role"] in {"img", "group"} and node.attributes["aria-label"] for node in drawings)
    tables = list(read().find("table"))
    assert all(next(table.find("caption")).text for table in tables)
    assert all(cell.attributes["scope"] in {"row", "col"} for table in tables for cell in table.find("th"))
    (article,) = read().find("article", id="claim-thm-claim-0")
    assert "29/60, 35/6" in article.text
    assert "3 × 10¹²" in article.text
    assert "exp(−10⁵)" in article.text


def test_headings_descend_by_one():
    levels = [int(node.tag[1]) for node in read().find() if re.fullmatch("h[1-6]", node.tag)]
    assert levels[0] == 1
    assert all(after - before <= 1 for before, after in zip(levels, levels[1:], strict=False))


def test_the_skip_link_comes_first_and_leads_to_the_claims():
    first = next(read().find("a"))
    assert first.attributes["href"] == "#claims"
    assert next(read().find("body")).children[0] is first


def test_no_text_breaks_out():
    assert len(list(read().find("script"))) == 1
    assert not list(read().find("b"))
    assert "<script>alert" not in written()
    plain = re.sub(r"\s+", "", read().text.replace("’", "'").replace("′", "'").replace("→", "->"))
    assert plain.count("".join(WILD.split())) >= 5


def style_sheet():
    (sheet,) = read().find("style")
    return sheet.text


@pytest.mark.parametrize("scheme", [0, 1], ids=["light", "dark"])
def test_the_colours_of_the_style_sheet_have_contrast(scheme):
    pairs = re.findall(r"--([\w-]+): light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\);", style_sheet())
    colours = {name: values[scheme] for name, *values in pairs}
    texts = ("ink", "soft", "link", "proved", "enclosed", "supported", "refuted", "unknown", "vacuous")
    for name in texts:
        for ground in ("paper", "raised"):
            assert contrast(colours[name], colours[ground]) >= 4.5, (name, ground)  # level AA for text
    for name in ("focus", "easy", "edge", "hard"):
        assert contrast(colours[name], colours["paper"]) >= 3, name  # level AA for what is no text
    steps = [contrast(colours[f"map-{level}"], colours["paper"]) for level in range(1, 6)]
    assert steps == sorted(steps)


def test_contrast_is_measured_as_the_guidelines_do():
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#767676", "#ffffff") == pytest.approx(4.54, abs=0.005)  # the textbook grey that just suffices


def test_the_page_is_reproducible_and_small():
    claims, records, errata = runner()
    again = page(records, errata, claims=claims, profile="quick", seed=7, date="a day", versions={"numpy": "2.0"})
    assert again == written()
    assert len(written(150).encode()) < 3_000_000


def test_what_was_checked_must_be_a_claim():
    with pytest.raises(ValueError, match="thm: no"):
        page([record("thm: no", Verdict.PROVED)], [], claims=[claim(1)], profile="quick", seed=0)


def test_nothing_checked_is_a_page_too():
    root = Reader(page([], [], claims=[], profile="full", seed=0)).root
    assert "0 of 0 claims pass" in root.text
    assert "No claim was checked." in root.text
    assert "No erratum" in root.text
