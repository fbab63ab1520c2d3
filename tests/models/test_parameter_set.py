"""Parameters with their provenance: saved, loaded, typed in, or of a published machine."""

import json
from pathlib import Path

import pytest

from dashboard.models.errors import NotApplicableError, ParameterError
from dashboard.models.p2p import Hockney
from dashboard.models.parameter_set import ParameterSet, load_parameters, set_of_dict
from dashboard.models.parameter_text import find_parameters
from dashboard.models.presets import machine
from tests.models.networks import NETWORKS


def test_what_is_saved_is_what_is_loaded(tmp_path: Path) -> None:
    known = ParameterSet("mine", NETWORKS, {"how": "made up", "sources": ["a", "b"], "assumed": []})
    known.save(tmp_path / "mine.json")
    network = load_parameters(tmp_path / "mine.json")
    assert network == known
    assert network.models == ("hockney", "loggp", "plogp")
    assert find_parameters(str(tmp_path / "mine.json")) == known


def test_a_published_machine_by_its_name() -> None:
    network = find_parameters("grig-mx")
    assert network.of("loggp") == machine("grig-mx").of("loggp")
    assert "4.12" in str(network.provenance["sources"])
    with pytest.raises(NotApplicableError, match="thunderbird has no PLogP parameters; there are Hockney"):
        find_parameters("thunderbird").of("plogp")
    with pytest.raises(ParameterError, match="did you mean grig-mx"):
        find_parameters("grig_mx")


def test_plogp_is_converted_from_loggp_where_there_is_none_and_does_not_vote() -> None:
    network = find_parameters("grig-tcp")
    loggp = network.of("loggp")
    assert network.of("plogp") == loggp.to_plogp()
    assert network.models == ("hockney", "loggp")
    assert tuple(network.every) == ("hockney", "loggp", "plogp")
    assert "converted" in network.conversion()
    own = ParameterSet("own", {"plogp": loggp.to_plogp()})
    assert not own.conversion()
    assert tuple(own.every) == own.models == ("plogp",)


def test_parameters_typed_in() -> None:
    for text in ("alpha=5e-5, beta=8.5e-8", "mine: hockney alpha=5e-5, beta=8.5e-8"):
        assert find_parameters(text).of("hockney") == Hockney(5e-5, 8.5e-8)
    assert find_parameters("latency=1e-5,overhead=1e-6,gap=1e-6", "loggp").models == ("loggp",)
    for wrong, words in {
        "alpha=5e-5,beta=x": "beta is 'x'",
        "alpha=50,beta=1e-8": "were microseconds meant",
        "alpha=-1,beta=1e-8": "more than 0",
        "alpha=1e-5,bandwidth=1": "no parameter bandwidth",
        "alpha=1e-5": "needs alpha, beta",
    }.items():
        with pytest.raises(ParameterError, match=words):
            find_parameters(wrong)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{", "wrong.json:1: not JSON"),
        ("[]", "expected an object"),
        ("{}", "format is None"),
        ('{"format": "colltune parameters", "version": 7}', "version is 7"),
        ('{"format": "colltune parameters", "version": 1, "parameters": {}}', "parameters of no model"),
        ('{"format": "colltune parameters", "version": 1, "parameters": {"amdahl": {}}}', "'amdahl'"),
        ('{"model": "hockney", "alpha": 1e-5, "beta": -1}', "wrong.json: beta is -1"),
        ('{"model": "hockney", "alpha": "x", "beta": 1e-9}', "alpha is 'x'"),
    ],
)
def test_wrong_files_are_told_by_name(tmp_path: Path, text: str, words: str) -> None:
    (tmp_path / "wrong.json").write_text(text)
    with pytest.raises(ParameterError) as caught:
        load_parameters(tmp_path / "wrong.json")
    assert words in str(caught.value)


def test_one_model_alone_and_a_file_that_is_not_there(tmp_path: Path) -> None:
    assert set_of_dict(json.loads(json.dumps(NETWORKS["plogp"].to_dict()))).of("plogp") == NETWORKS["plogp"]
    with pytest.raises(ParameterError, match="No such file"):
        load_parameters(tmp_path / "none.json")
