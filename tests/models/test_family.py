"""Deciding with models as one family among others: options, networks by text, frontiers, fits."""

from pathlib import Path

import numpy as np
import pytest
import xarray as xr

from dashboard.decisions.grown.families import FAMILIES, PLACES, Families
from dashboard.decisions.grown.family import Cancelled
from dashboard.decisions.judged.frontier import frontier
from dashboard.decisions.measured.problem import Problem
from dashboard.domain.errors import OptionError
from dashboard.models.deciding import TRUST, Ensemble, model_decision
from dashboard.models.errors import ModelError
from dashboard.models.family import FAMILY, USUAL_TRUST, family_of, read_trust
from dashboard.models.parameter_set import ParameterSet
from dashboard.models.parameter_text import read_set, write_set
from dashboard.models.predicting import Covered, candidates, predicted_cube
from dashboard.models.presets import machine
from tests.models.networks import HOCKNEY, NETWORKS

NETWORK = ParameterSet("test network", NETWORKS)
BCAST = Covered.of("bcast", candidates("bcast", segment_sizes=(0, 1024, 8192)))
CUBE = predicted_cube(BCAST, np.arange(2, 20), [1, 100, 3000, 20_000, 100_000, 2_000_000], HOCKNEY)


def test_it_is_found_where_it_is_registered() -> None:
    known = Families(PLACES)
    known.register("model", "dashboard.models.family:FAMILY")
    assert known["model"] is FAMILY
    assert list(known)[-1] == "model"


def test_it_stands_beside_the_others_while_it_is_wanted(fast_ethernet: xr.DataTree) -> None:
    problem = Problem.of(fast_ethernet["allgather"].to_dataset())
    before = dict.fromkeys(FAMILIES)
    with FAMILIES.also(family_of(NETWORK)):
        front = frontier(problem, families=["model", "exact"], held_out=None)
        assert front.table["family"].tolist().count("model") == 4
        # Another network for a while, then the first again.
        with FAMILIES.also(family_of(machine("boba"))):
            assert FAMILIES["model"].option("parameters").default == "boba"
        assert FAMILIES["model"].option("parameters").default.startswith("test network: hockney")
    assert dict.fromkeys(FAMILIES) == before
    assert (front.table["leaves"] > 0).all()
    with pytest.raises(OptionError, match="a family exact already"), FAMILIES.also(FAMILIES["exact"]):
        pass


def test_options_are_those_of_deciding(fast_ethernet_bcast: xr.Dataset) -> None:
    problem = Problem.of(fast_ethernet_bcast)
    text = write_set(NETWORK)
    trust = "hockney=9,loggp=1,plogp=1"
    options = {"model": "weight", "parameters": text, "trust": trust, "variant": "as_published", "encode": "cart"}
    decision = FAMILY.grow(problem, **options)
    expected = model_decision(
        problem,
        Ensemble(read_set(text), "weight", {"hockney": 9, "loggp": 1, "plogp": 1}, "as_published"),
        grow=FAMILIES["cart"].grow,
        options=options,
    )
    assert decision == expected
    assert decision.options == options
    assert FAMILY.grow(problem, **decision.options) == decision
    filled = FAMILY.grow(problem, model="loggp", fill=True, methods="binomial,pipeline 8KiB")
    assert {method.label for method in filled.methods} == {"binomial", "pipeline 8KiB"}


def test_a_network_is_the_default_of_its_own_family(fast_ethernet_bcast: xr.Dataset) -> None:
    problem = Problem.of(fast_ethernet_bcast)
    alone = family_of(ParameterSet("alone", {"hockney": HOCKNEY}))
    decision = alone.grow(problem)
    known = ParameterSet("alone", {"hockney": HOCKNEY})
    # What is written of the decision says which network that was.
    options = {"model": "vote", "parameters": write_set(known)}
    assert decision == model_decision(problem, Ensemble(known), options=options)
    assert decision.options == options
    # The numbers themselves, not their six digits.
    parameters = decision.provenance["models"]["parameters"]["hockney"]
    assert parameters == HOCKNEY.to_dict()
    with pytest.raises(OptionError, match="alone has no PLogP parameters"):
        alone.grow(problem, model="plogp")


def test_without_a_network_parameters_are_fitted() -> None:
    decision = FAMILY.grow(Problem.of(CUBE), model="hockney")
    # Measured by the model itself: the fit finds its parameters, and so its decisions.
    assert Problem.of(CUBE).summary(decision).max < 1e-6
    models = decision.provenance["models"]
    assert models["parameters_name"] == "fitted to these measurements"
    assert models["parameters"]["hockney"]["alpha"] == pytest.approx(HOCKNEY.alpha, rel=1e-3)
    with pytest.raises(OptionError, match="all times are of messages of 100 B"):
        FAMILY.grow(Problem.of(CUBE.isel(message_size=[1])), model="hockney")


def test_several_at_once_are_each_by_itself(fast_ethernet: xr.DataTree) -> None:
    problem = Problem.of(fast_ethernet["allgather"].to_dataset())
    settings = [{"model": "hockney"}, {"model": "vote"}, {"model": "loggp", "parameters": "boba"}]
    assert FAMILY.grow_many(problem, settings) == [FAMILY.grow(problem, **each) for each in settings]

    def stop(_share: float, _what: str) -> None:
        raise Cancelled

    with pytest.raises(Cancelled):
        FAMILY.grow(problem, progress=stop)


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("model", "magic", "expected one of hockney"),
        ("parameters", "grig", "did you mean grig-mx|no machine 'grig'"),
        ("parameters", "/etc/passwd", "no machine '/etc/passwd'"),
        ("parameters", "x: hockney alpha=1,beta=1", "alpha is 1 s; expected at most"),
        ("parameters", "x: hockney alpha=nan,beta=1e-9", "alpha is nan"),
        ("parameters", "x: magic alpha=1", "found 'magic' before parameters"),
        ("parameters", "x" * 5000, "at most 4,000 signs"),
        ("trust", "hockney=0", "weights above 0"),
        ("trust", "magic=1", "weights above 0"),
        ("trust", "hockney", "weights of the votes: 'hockney'; expected weights above 0"),
        ("encode", "octree", "expected one of exact"),
    ],
)
def test_what_is_not_allowed_is_refused(name: str, value: str, words: str) -> None:
    with pytest.raises(OptionError, match=words):
        FAMILY.checked({name: value})


def test_no_file_is_read_for_a_network(tmp_path: Path) -> None:
    path = tmp_path / "network.json"
    NETWORK.save(path)
    with pytest.raises(OptionError, match="no machine"):
        FAMILY.checked({"parameters": str(path)})


def test_a_network_comes_back_from_its_line() -> None:
    again = read_set(write_set(NETWORK))
    assert again.name == "test network"
    assert again.models == NETWORK.models
    for model in NETWORK.models:
        fields, known = again.of(model).to_dict(), NETWORK.of(model).to_dict()
        for name, value in known.items():
            assert fields[name] == (pytest.approx(value, rel=1e-5) if name != "model" else value)
    # What is written of it is written again.
    assert write_set(again) == write_set(NETWORK)
    assert write_set(machine("boba")) == "boba"
    odd = ParameterSet("a: b|c;d?", {"hockney": HOCKNEY})
    assert read_set(write_set(odd)).name == "a b c d"
    # A machine with another number is no longer that machine.
    changed = ParameterSet("boba", {"hockney": HOCKNEY})
    assert write_set(changed).startswith("boba: hockney ")


def test_trust_is_written_and_read() -> None:
    assert read_trust(USUAL_TRUST) == dict(TRUST)
    assert read_trust("loggp=7") == {**TRUST, "loggp": 7.0}
    with pytest.raises(ModelError, match="inf"):
        read_trust("loggp=inf")
