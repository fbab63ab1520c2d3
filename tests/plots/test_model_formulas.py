"""Formulas and errata as HTML."""

from dashboard.models import ALL, MODELS
from dashboard.models.compare import table
from dashboard.models.errata import errata
from dashboard.plots.models.formulas import errata_list, formulas


def test_every_algorithm_stands_with_three_formulas() -> None:
    for collective, known in MODELS.items():
        text = formulas(known.values())
        assert text.count("<h3>") == len(known)
        assert all(f"({collective} {name})" in text for name in known)
        assert text.count("<math") >= 3 * len(known)


def test_what_was_printed_stands_beside_with_the_proof() -> None:
    wrong = [each for each in ALL if each.loggp.printed is not None]
    assert wrong
    for each in wrong:
        text = formulas([each])
        assert "As published:" in text
        assert each.loggp.erratum.split(" ")[0] in text


def test_formulas_say_how_they_compare_with_the_simulation() -> None:
    text = formulas(MODELS["bcast"].values(), table())
    assert text.count("Exact: ") + text.count("An upper bound: ") + text.count("An estimate: ") == 3 * 5


def test_every_erratum_is_listed() -> None:
    assert errata_list(errata()).count("<h3>") == len(errata())
