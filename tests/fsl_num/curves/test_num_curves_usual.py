"""What the usual schedules would have given, first of all in a notebook."""

from curves_runs import NOISY
from notebook_views import as_html

from fsl_num import LossCurve, fit, rivals


def test_a_fit_in_a_notebook_shows_the_losses_of_the_usual_schedules_before_its_parameters():
    result = fit(NOISY, "fsl", starts=1)
    shown = as_html(result)
    answer, parameters = shown.split(f"<h4>{result.law.title}</h4>")
    for words, loss, known, rows in rivals(result).as_rows():
        assert f"<td>{words}</td><td>{loss}</td><td>{known}</td><td>{rows}</td>" in answer
    assert "final loss" in answer and "The runs fitted" in answer and "parameter" not in answer
    assert all(f"<td>{name}</td>" in parameters for name in result.parameters)


def test_a_fit_of_final_losses_alone_knows_no_schedules_and_shows_its_parameters():
    runs = [
        LossCurve([steps], [2.0 + steps**-0.5 + 100 / size], lr=[0.1], batch_size=1e4, model_size=size)
        for size in (1e3, 1e4)
        for steps in (100, 400, 1600)
    ]
    result = fit(runs, "chinchilla", intervals=False)
    shown = as_html(result)
    assert shown.startswith(f"<h4>{result.law.title}</h4>") and "single rows" not in shown
