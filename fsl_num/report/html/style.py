"""The style of the page: its colours in light and dark, and its layout from a phone to a desk and to paper."""

from __future__ import annotations

LIGHT = {
    "paper": "#fffefb",
    "raised": "#f6f4ee",
    "ink": "#1f1d1a",
    "soft": "#5c5850",
    "rule": "#d9d4c8",
    "link": "#1d4f91",
    "focus": "#b4530a",
    "proved": "#1a5e8a",
    "enclosed": "#0f6461",
    "supported": "#2a6b2f",
    "refuted": "#a3262a",
    "unknown": "#6b4f9c",
    "vacuous": "#8a5200",
    "map-1": "#a9c8e6",
    "map-2": "#6ba3d6",
    "map-3": "#3a7cba",
    "map-4": "#245589",
    "map-5": "#122f52",
    "easy": "#1d6fb0",
    "edge": "#a3262a",
    "hard": "#2a6b2f",
}
DARK = {
    "paper": "#16171a",
    "raised": "#1f2125",
    "ink": "#e6e3dc",
    "soft": "#aaa69c",
    "rule": "#3a3c42",
    "link": "#8fbcf2",
    "focus": "#f0a35e",
    "proved": "#7fc1ec",
    "enclosed": "#6fcdc6",
    "supported": "#8ccb8d",
    "refuted": "#f29a93",
    "unknown": "#c3adf0",
    "vacuous": "#e8b568",
    "map-1": "#33567c",
    "map-2": "#4a7fb5",
    "map-3": "#6fa6da",
    "map-4": "#a3cbef",
    "map-5": "#dcecfb",
    "easy": "#7db6ee",
    "edge": "#f29a93",
    "hard": "#8ccb8d",
}
"""Colours by name. Texts keep a contrast of at least 4.5 to paper and raised in both."""

_RULES = """
*,*::before,*::after{box-sizing:border-box}
html{color-scheme:light dark;-webkit-text-size-adjust:100%;text-size-adjust:100%}
body{margin:0;background:var(--paper);color:var(--ink);font:1.0625rem/1.6 "Iowan Old Style","Palatino Linotype",
"Palatino","TeX Gyre Pagella","URW Palladio L","Book Antiqua",Georgia,serif;overflow-wrap:break-word;
font-variant-numeric:lining-nums;hanging-punctuation:first}
.ui,.where,.facts,figcaption,table,nav,form,footer,summary,svg text,.badge,.kind{font-family:system-ui,-apple-system,
"Segoe UI",Inter,Roboto,"Helvetica Neue",Arial,sans-serif}
code{font:.86em/1.4 ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;overflow-wrap:anywhere}
math{font-family:"Latin Modern Math","STIX Two Math","Cambria Math","TeX Gyre Pagella Math",math;font-size:1.08em}
sub,sup{font-size:.74em;line-height:0}
sup sup,sub sub,sup sub,sub sup{font-size:.88em}
a{color:var(--link);text-decoration-thickness:.06em;text-underline-offset:.18em}
a:has(code){text-underline-offset:.36em}
a:hover{text-decoration-thickness:.12em}
:focus-visible{outline:3px solid var(--focus);outline-offset:2px;border-radius:2px}
.skip{position:absolute;left:-100vw;top:0;background:var(--paper);padding:.6rem 1rem;z-index:2}
.skip:focus{left:.5rem;top:.5rem}
.wrap{max-width:66rem;margin:0 auto;padding:0 1.1rem}
header.top{padding:3.5rem 0 1.2rem}
h1,h2,h3,h4{line-height:1.2;font-weight:600;text-wrap:balance;margin:0}
h1{font-size:clamp(1.7rem,1.1rem + 2.6vw,2.6rem);letter-spacing:-.012em;max-width:24ch}
h2{font-size:1.65rem;margin:4rem 0 1rem;padding-top:1.2rem;border-top:1px solid var(--rule)}
h3{font-size:1.2rem}
.lead{font-size:1.12rem;max-width:42rem;margin:1.1rem 0}
.measure{max-width:42rem}
p{margin:.7rem 0}
nav ul{list-style:none;display:flex;flex-wrap:wrap;gap:.3rem 1.6rem;padding:0;margin:1.4rem 0 0;font-size:.95rem}
.made{color:var(--soft);font-size:.9rem;margin:1rem 0 0}
.made span{white-space:nowrap;margin-right:1.2em}
table{border-collapse:collapse;font-size:.84rem;line-height:1.4;width:100%}
caption{text-align:left;color:var(--soft);padding:.3rem 0;font-size:.84rem}
th,td{text-align:left;vertical-align:top;padding:.34rem .9rem .34rem 0;border-bottom:1px solid var(--rule)}
th{font-weight:600}
details tbody th{font-weight:500}
details table{min-width:36rem}
thead th{color:var(--soft);font-weight:500}
.n,.nowrap{white-space:nowrap}
.n{text-align:right;font-variant-numeric:tabular-nums lining-nums}
table.summary{font-size:.95rem;max-width:46rem}
.scroll{overflow-x:auto;max-width:100%}
.badge{font-weight:600;font-size:.8rem;letter-spacing:.05em;white-space:nowrap}
.mark{display:inline-block;min-width:1.2em;text-align:center}
__VERDICTS__
.graph{border:1px solid var(--rule);border-radius:6px;background:var(--raised);padding:.6rem}
figure{margin:1.2rem 0}
figcaption{color:var(--soft);font-size:.84rem;line-height:1.5;max-width:44rem;margin:.4rem 0}
svg{display:block;max-width:none}
svg text{font-size:11px;fill:var(--ink)}
svg .soft{fill:var(--soft)}
svg .rule{stroke:var(--rule);fill:none}
svg .axis{stroke:var(--soft);fill:none}
svg .box{fill:var(--paper);stroke:currentColor}
svg a:focus-visible .box{stroke:var(--focus);stroke-width:3}
svg a:hover .box{stroke-width:2}
svg .edge{fill:none;stroke:var(--soft);stroke-width:1.1}
svg .corrects{stroke-dasharray:5 3}
svg .strengthens{stroke-dasharray:1.5 3}
svg .arrow{fill:var(--soft)}
.drawings figure>svg{width:100%;height:auto;max-width:22rem}
.drawings{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(17rem,100%),1fr));
gap:.4rem 2rem;max-width:46rem}
.drawings figure{margin:.6rem 0;min-width:0}
.line{fill:none;stroke-width:1.6}
.easy{stroke:var(--easy)}.edge-regime{stroke:var(--edge);stroke-dasharray:6 3}
.hard{stroke:var(--hard);stroke-dasharray:1.5 2.5;stroke-linecap:round}
.key{display:inline-block;vertical-align:middle;margin:0 .35em 0 0}
.legend{display:flex;flex-wrap:wrap;gap:.1rem 1rem;padding:0;margin:.2rem 0;list-style:none;font-size:.82rem}
svg .cross{stroke:var(--ink);fill:none}
.dot{stroke:var(--ink);stroke-width:.7}
__MAP__
article{padding:2.4rem 0 1.6rem;border-top:1px solid var(--rule);scroll-margin-top:.5rem}
article:target{border-top-color:var(--focus)}
article>.title{display:flex;flex-wrap:wrap;justify-content:space-between;align-items:baseline;gap:.1rem 1.2rem}
article h3{flex:1 1 20rem}
.where{color:var(--soft);font-size:.82rem;margin:.25rem 0 .9rem;line-height:1.5}
.where>span{margin-right:1.1em}
.note{font-size:.94rem}
.two{display:grid;grid-template-columns:minmax(0,1fr);gap:0 3rem}
.formula{margin:.9rem 0;padding:.1rem 0 .1rem 1rem;border-left:2px solid var(--rule)}
.formula .row{overflow-x:auto;overflow-y:hidden;padding:.3rem 0;line-height:2.1}
.formula math{margin-right:.1em}
.formula math.apart{margin-right:.7em}
.hypotheses{padding-left:1.1rem;margin:.4rem 0}
.hypotheses li{margin:.1rem 0}
.facts{font-size:.84rem;line-height:1.45;margin:.4rem 0 1rem}
.facts dt{color:var(--soft);margin-top:.55rem}
.facts dd{margin:0;overflow-wrap:anywhere}
details{margin:.8rem 0}
summary{cursor:pointer;font-size:.86rem;color:var(--link);padding:.2rem 0}
details ul{padding-left:1.1rem;margin:.4rem 0;font-size:.9rem;line-height:1.5}
.columns{columns:18rem;column-gap:2.5rem}
.columns li{break-inside:avoid}
.titles{padding-left:1.1rem;line-height:1.45}
.titles li{margin:0 0 .7rem}
h3.listed{margin:2rem 0 .8rem}
form{display:flex;flex-wrap:wrap;gap:.7rem 1.2rem;align-items:end;font-size:.9rem;margin:1rem 0}
form label{display:grid;gap:.2rem;color:var(--soft)}
form .grow{flex:1 1 14rem}
input,select,button{font:inherit;color:var(--ink);background:var(--paper);border:1px solid var(--soft);
border-radius:4px;padding:.4rem .6rem;min-height:2.6rem;max-width:100%;min-width:0;width:100%}
button{width:auto;cursor:pointer}
output{flex:1 1 100%;color:var(--soft)}
[hidden]{display:none!important}
.erratum{padding:1.6rem 0 1rem}
.erratum h3{font-size:1.02rem;overflow-wrap:anywhere}
.pair{display:grid;grid-template-columns:minmax(0,1fr);gap:.2rem 2rem;margin:.6rem 0}
.pair p{margin:.1rem 0 .6rem}
.pair dt,.kind{color:var(--soft);font-size:.82rem}
.pair dt{font-family:system-ui,sans-serif}
.pair dd{margin:0 0 .6rem;padding-left:1rem;border-left:2px solid var(--rule)}
.pair dd.right{border-left-color:var(--supported)}
.pair dd.wrong{border-left-color:var(--refuted)}
footer{color:var(--soft);font-size:.85rem;border-top:1px solid var(--rule);margin:4rem 0 3rem;padding-top:1rem}
@media (min-width:56rem){
.two{grid-template-columns:minmax(0,1fr) 16rem}
.two>.facts{padding-left:1.4rem;border-left:1px solid var(--rule)}
.pair{grid-template-columns:1fr 1fr}
.wrap{padding:0 2rem}
}
@media print{
:root{--paper:#fff;--raised:#fff}
body{font-size:10pt}
nav,form,.skip{display:none}
.graph{overflow:visible;border:0}
.graph svg{width:100%;height:auto}
article,table,figure{break-inside:avoid-page}
h2,h3{break-after:avoid}
details::details-content{content-visibility:visible;block-size:auto}
a{color:inherit}
}
"""


def style() -> str:
    """The whole style sheet.

    >>> style().count("prefers-color-scheme:dark")
    1
    """
    verdicts = ("proved", "enclosed", "supported", "refuted", "unknown", "vacuous")
    shown = "".join(f".v-{name}{{color:var(--{name})}}" for name in verdicts)
    dots = "".join(f".m{level}{{fill:var(--map-{level})}}" for level in range(1, 6))
    rules = _RULES.replace("__VERDICTS__", shown).replace("__MAP__", dots)
    dark = f"@media screen and (prefers-color-scheme:dark){{:root{{{_variables(DARK)}}}}}"
    return f":root{{{_variables(LIGHT)}}}{dark}{rules}"


def _variables(colours: dict[str, str]) -> str:
    return "".join(f"--{name}:{value};" for name, value in colours.items())
