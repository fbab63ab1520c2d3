"""``colltune model`` and deciding with models on the command line."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from dashboard.cli import main
from dashboard.decisions import DecisionFunction
from dashboard.decisions.measured.problem import Problem
from dashboard.models.deciding import model_penalties
from dashboard.models.errata import errata
from dashboard.models.parameter_set import load_parameters
from dashboard.models.parameter_text import find_parameters, write_set
from dashboard.models.segments import Segmentation
from dashboard.session.prepared import prepare
from loaders import open_results
from tests.cli.command import Run, assert_one_clear_line
from tests.conftest import FAST_ETHERNET, FAST_ETHERNET_PATTERN, ROOT


def split(text: str) -> list[str]:
    return text.split()


PREDICT = split("model predict -c bcast --algorithm pipeline --model hockney --comm-size 8 --message-size 65536")
PATTERN = ["--pattern", FAST_ETHERNET_PATTERN]


@pytest.fixture(scope="session")
def network(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Parameters of the sample data's network, as the command makes them."""
    path = tmp_path_factory.mktemp("network") / "fast-ethernet.json"
    assert main(["model", "parameters", str(FAST_ETHERNET / "pointtopoint.csv"), "-o", str(path)]) == 0
    return path


def test_predict_is_the_formula(colltune: Run) -> None:
    answer = colltune(*PREDICT, "--segment-size", "8KiB", "--parameters", "grig-mx", "--json")
    assert (answer.status, answer.err) == (0, "")
    # Table 4.3 with alpha = 5.64 µs and beta = 0.0042 µs/B: (P + n_s - 2)(alpha + beta m_s), 8 segments of 8 KiB.
    assert answer.json["time"] == pytest.approx((8 + 8 - 2) * (5.64e-6 + 0.0042e-6 * 8192))
    assert answer.json["parameters"]["name"] == "grig-mx"
    text = colltune(*PREDICT, "--parameters", "alpha=5.64e-6,beta=4.2e-9").out
    # Without segments (P + 1 - 2)(alpha + beta m).
    assert text.startswith("1.966 ms  bcast pipeline of 64 KiB on 8 processes")
    assert "Table 4.3" in text


def test_predict_takes_the_names_of_libraries_and_what_is_printed(colltune: Run) -> None:
    words = split("model predict -c allgather --algorithm neighbor --comm-size 8 --message-size 1024 --json --model")
    measured = "model", "parameters", FAST_ETHERNET / "pointtopoint.csv"
    made = json.loads(colltune(*measured, "--json").out)
    assert ", 8192, 12288, 16384, " in colltune(*measured).out
    assert colltune(*words, "loggp", "--parameters", "boba").json["algorithm"] == "neighbor_exchange"
    plogp = made["parameters"]["plogp"]
    assert plogp["latency"] == pytest.approx(114.2e-6, abs=1e-7)
    words = split("model predict -c bcast --algorithm binary --model hockney --comm-size 8 --message-size 9 --json")
    right = colltune(*words, "--parameters", "boba").json
    assert right["variant"] == "corrected"
    barrier = "model predict -c barrier --algorithm flat_tree --model hockney --comm-size 8 --json --parameters boba"
    assert colltune(*barrier.split()).json["time"] == pytest.approx(8 * 47.6e-6)
    # The table has P - 1: an erratum.
    assert colltune(*barrier.split(), "--as-published").json["time"] == pytest.approx(7 * 47.6e-6)


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        (["--parameters", "grig"], ["no machine 'grig'", "grig-mx"]),
        (["--parameters", "no.json"], ["no.json: No such file"]),
        (["--parameters", "grig-mx", "--algorithm", "pipelin"], ["did you mean pipeline"]),
        (["--parameters", "grig-mx", "--collective", "broadcast"], ["'broadcast'", "bcast"]),
        (["--parameters", "grig-mx", "--comm-size", "0"], ["--comm-size", "at least 1"]),
        (["--parameters", "grig-mx", "--message-size", "big"], ["--message-size", "'big' is not a size"]),
        (["--parameters", "thunderbird", "--model", "plogp"], ["thunderbird has no PLogP parameters"]),
        (["--parameters", "alpha=0,beta=1e-9"], ["alpha is 0 s", "more than 0"]),
        ([], ["--parameters"]),
    ],
)
def test_wrong_words_are_told_in_one_line(colltune: Run, changed: list[str], words: list[str]) -> None:
    assert_one_clear_line(colltune(*PREDICT, *changed), *words)


def test_an_algorithm_on_processes_that_it_does_not_work_on(colltune: Run) -> None:
    words = "--algorithm recursive_doubling --model loggp --comm-size 6 --message-size 8 --parameters boba"
    answer = colltune("model", "predict", "-c", "allgather", *words.split())
    assert_one_clear_line(answer, "powers of two", "found 6")


def test_segments_of_table_6_1(colltune: Run) -> None:
    words = split("model segments -c bcast --algorithm split_binary --model hockney --comm-size 64 --json")
    answer = colltune(*words, "--message-size", "768KiB", "--parameters", "grig-mx").json
    assert answer["formula_segment_size"] == pytest.approx(10308, rel=0.005)
    low, high = answer["within_10"]
    assert low < answer["within_5"][0] < answer["segment_size"] == answer["curve_best"] < answer["within_5"][1] < high
    curve = answer["curve"]
    inside = [time for size, time in zip(curve["segment_size"], curve["time"], strict=True) if low <= size <= high]
    assert min(inside) == min(curve["time"])
    assert answer["time"] < answer["time_without"]
    page = Segmentation.of("bcast", "split_binary", find_parameters("grig-mx", "hockney").of("hockney"), 64, 768 << 10)
    assert [answer[f"within_{percent}"] for percent in (5, 10)] == [list(page.within(percent)) for percent in (5, 10)]
    text = colltune(*words[:-1], "--message-size", "768KiB", "--parameters", "grig-mx").out
    assert "whole: 10,277 B" in text
    none = colltune(*words, "--message-size", "8", "--parameters", "grig-mx").json
    assert none["segment_size"] == 0
    words = split("model segments -c allgather --algorithm ring --model hockney --comm-size 64 --message-size 9")
    assert_one_clear_line(colltune(*words, "--parameters", "grig-mx"), "ring is not cut into segments")


@pytest.mark.parametrize(
    "name", ["", "list", "errata", "predict", "segments", "parameters", "fit", "runtime", "decide", "map"]
)
def test_every_subcommand_has_its_help(colltune: Run, name: str) -> None:
    answer = colltune("model", *([name] if name else []), "--help")
    assert (answer.status, answer.err) == (0, "")
    assert answer.out.startswith(f"usage: colltune model {name}".rstrip())


def test_errata_and_list(colltune: Run) -> None:
    entries = colltune("model", "errata", "--json").json["errata"]
    assert [each["where"] for each in entries] == [each.where for each in errata()]
    assert "correct: " in colltune("model", "errata").out
    listed = colltune("model", "list", "--json").json
    assert len(listed["models"]) == 35
    assert {each["name"] for each in listed["machines"]} >= {"grig-mx", "thunderbird"}
    text = colltune("model", "list", "-c", "scan", "--formulas").out
    assert "linear_segmented" in text
    assert "PLogP: T = " in text
    assert_one_clear_line(colltune("model", "list", "-c", "scam"), "did you mean scan")


def test_parameters_of_a_ping_pong(colltune: Run) -> None:
    answer = colltune("model", "parameters", FAST_ETHERNET / "pt2pt__pingpong__seg0.sko", *PATTERN, "--json")
    assert 100e-6 < answer.json["parameters"]["hockney"]["alpha"] < 135e-6
    assert any("Table 4.13" in note for note in answer.json["provenance"]["assumed"])
    answer = colltune("model", "parameters", FAST_ETHERNET / "bcast__linear__seg0.sko", *PATTERN)
    assert_one_clear_line(answer, "hold no ping-pong, but bcast")


def test_fit_saves_what_predict_and_decide_take(colltune: Run, tmp_path: Path, network: Path) -> None:
    made = tmp_path / "fitted.json"
    files = [FAST_ETHERNET / f"bcast__{name}__seg0.sko" for name in ("pipeline", "linear")]
    answer = colltune("model", "fit", *files, *PATTERN, "--parameters", network, "-o", made, "--json")
    assert answer.status == 0
    fits = answer.json["fits"]
    assert set(fits) == {"hockney", "loggp", "plogp"}
    assert fits["loggp"]["median_error_percent"] < 6
    assert fits["loggp"]["intervals"]["latency"] == [0.0, None]
    saved = load_parameters(made)
    assert saved.to_dict() == {name: value for name, value in answer.json.items() if name != "fits"}
    predicted = colltune(*PREDICT, "--parameters", made, "--json").json["time"]
    alpha, beta = (saved.of("hockney").to_dict()[name] for name in ("alpha", "beta"))
    assert predicted == pytest.approx(7 * (alpha + beta * 65536))
    text = colltune("model", "fit", *files, *PATTERN, "--model", "hockney").out
    assert "95 % from" in text
    assert "bcast pipeline" in text
    answer = colltune("model", "fit", files[0], *PATTERN, "--method", "binomial")
    assert_one_clear_line(answer, "no method 'binomial'", "pipeline")


def test_what_rests_on_parameters_that_a_fit_did_not_determine_is_said(
    colltune: Run, bcast_files: list[Path], tmp_path: Path
) -> None:
    made = tmp_path / "fitted.json"
    assert colltune("model", "fit", *bcast_files, *PATTERN, "--model", "plogp", "-o", made).status == 0
    words = ["-c", "bcast", "--model", "plogp", "--parameters", made, "--message-size", "1MiB", "--comm-size", "8"]
    pipeline = ["--algorithm", "pipeline"]
    for order in (
        ["segments", *words, *pipeline],
        ["predict", *words, *pipeline, "--segment-size", "32"],
        ["map", *words, "--optimal"],
    ):
        answer = colltune("model", *order, "--json")
        assert answer.json["undetermined"] == ["gap at 32 B"]
        assert "warning: " in answer.err
        assert "on gap at 32 B; the measurements" in answer.err
    answer = colltune("model", "predict", *words, *pipeline, "--segment-size", "8KiB", "--json")
    assert (answer.json["undetermined"], answer.err) == ([], "")


def test_runtime_functions(colltune: Run) -> None:
    words = ["model", "runtime", FAST_ETHERNET / "bcast__linear__seg0.sko", *PATTERN, "--from", "10KiB"]
    (function,) = colltune(*words, "--json").json["collectives"]["bcast"]["linear"]
    assert function["form"] == "linear"
    assert function["growth"] == pytest.approx(0.085e-6, rel=0.02)
    assert " p) b" in colltune(*words).out
    assert_one_clear_line(colltune(*words, "--from", "1GiB"), "too few")


def test_decide_with_a_model(colltune: Run, bcast_files: list[Path], network: Path) -> None:
    words = ["decide", *bcast_files, *PATTERN, "-c", "bcast", "--tree", "model", "--parameters", network]
    answer = colltune(*words, "--model", "plogp", "--json").json
    written = write_set(load_parameters(network))
    assert (answer["tree"], answer["options"]) == ("model", {"model": "plogp", "parameters": written})
    assert answer["decision"]["kind"] == "model"
    assert 0 < answer["penalty"]["mean"] < 12
    assert answer["penalty"]["unmeasured"] == 0
    assert "model plogp" in colltune(*words, "--model", "plogp").out
    assert colltune(*words, "--json").json["options"] == {"model": "vote", "parameters": written}
    table = colltune("model", "decide", *bcast_files, *PATTERN, "--parameters", network, "--json").json
    assert table["collectives"]["bcast"]["penalty_of_all"]["plogp"]["mean"] == pytest.approx(answer["penalty"]["mean"])
    text = colltune("model", "decide", *bcast_files, *PATTERN, "--parameters", network).out
    assert "no model covers chain" in text


def test_export_and_compare_with_a_model(colltune: Run, bcast_files: list[Path], network: Path) -> None:
    where = [*bcast_files, *PATTERN, "-c", "bcast", "--parameters", network]
    source = colltune("export", *where, "--tree", "model", "--model", "loggp", "--to", "c").out
    assert "int colltune_bcast(" in source
    pair = colltune("compare", *where, "--trees", "model:model=loggp", "model:model=hockney", "--json")
    assert pair.status == 0


def test_without_parameters_they_are_fitted(colltune: Run, bcast_files: list[Path]) -> None:
    answer = colltune("decide", *bcast_files, *PATTERN, "-c", "bcast", "--tree", "model", "--model", "loggp", "--json")
    assert answer.status == 0
    assert "fitted to the measurements" in answer.err
    models = answer.json["decision"]["provenance"]["models"]
    assert models["parameters_name"] == "fitted to these measurements"
    # Fast Ethernet: 0.085 µs per byte.
    assert models["parameters"]["loggp"]["gap_per_byte"] == pytest.approx(0.085e-6, rel=0.1)
    assert answer.json["penalty"]["mean"] < 12


def test_options_of_other_trees_and_networks_without_the_model(colltune: Run, results: Path) -> None:
    words = ["decide", results, "-c", "bcast", "--tree", "model"]
    assert_one_clear_line(colltune(*words, "--max-depth", "3"), "--tree model takes --model")
    known = [*words, "--parameters", "thunderbird", "--json"]
    assert colltune(*known).json["penalty"] == colltune(*known, "--model", "hockney").json["penalty"]
    answer = colltune(*words, "--model", "plogp", "--parameters", "thunderbird")
    assert_one_clear_line(answer, "thunderbird has no PLogP", "Hockney")
    both = ["decide", results, "-c", "bcast", "-c", "reduce", "--combined", "--tree", "model", "--parameters", "boba"]
    assert_one_clear_line(colltune(*both), "2 tables")


def test_models_on_the_frontier(colltune: Run, results: Path, network: Path) -> None:
    words = ["frontier", results, "-c", "reduce", "--held-out", "none", "--all", "--family", "exact", "model", "--json"]
    points = colltune(*words, "--parameters", network).json["points"]
    assert [point["options"].get("model", "vote") for point in points if point["family"] == "model"] == [
        "hockney",
        "loggp",
        "plogp",
        "vote",
    ]


def test_sparse_measurements_are_completed_and_it_is_said(colltune: Run, results: Path) -> None:
    words = ["decide", results, "-c", "bcast", "--tree", "exact", "--complete", "loggp", "--complete-with", "grig-tcp"]
    answer = colltune(*words, "--json")
    assert answer.status == 0
    assert "times predicted by the loggp model, calibrated by method" in answer.err
    fitted = colltune(*words[:-2], "--json")
    assert fitted.status == 0
    assert "the model that completes is fitted to the measurements" in fitted.err
    assert_one_clear_line(
        colltune(*words[:-4], "--complete-with", "grig-tcp"), "of --complete MODEL, which is not given"
    )
    assert_one_clear_line(colltune(*words[:-2], "--parameters", "grig-tcp"), "--tree model", "--complete-with")


def test_a_file_that_completes_is_written_out_in_a_link(colltune: Run, results: Path, network: Path) -> None:
    words = ["decide", results, "-c", "bcast", "--tree", "exact", "--complete", "loggp", "--complete-with", network]
    answer = colltune(*words, "--json", "--link")
    *said, link = answer.out.splitlines()
    viewed = colltune("view", link, results, "--json").json
    assert viewed["penalty"] == json.loads("".join(said))["penalty"]
    # What an address names is never opened.
    refused = colltune("view", f"?collective=bcast&tree=exact&complete=loggp&parameters={network}", results)
    assert_one_clear_line(refused, "no file is opened")


def test_weights_methods_and_encodings_of_the_model(colltune: Run, results: Path, network: Path) -> None:
    words = ["decide", results, "-c", "bcast", "--parameters", network, "--json", "--tree", "model"]
    hockney = colltune(*words, "--model", "hockney").json
    heavy = ["--model", "weight", "--trust", "hockney=9"]
    weighed = colltune(*words, *heavy).json
    assert weighed["penalty"] == hockney["penalty"]
    assert weighed["options"] == {**hockney["options"], "model": "weight", "trust": "hockney=9"}
    few = colltune(*words, "--methods", "binomial,pipeline 2KiB", "--encode", "cart").json
    assert few["methods"] == ["binomial", "pipeline 2KiB"]
    assert few["options"]["encode"] == "cart"
    assert_one_clear_line(colltune(*words, "--trust", "hockney=none"), "--trust", "weights above 0")
    table = ["model", "decide", results, "-c", "bcast", "--parameters", network, "--json"]
    penalty = colltune(*table, "--trust", "hockney=9").json["collectives"]["bcast"]["penalty"]
    assert penalty["weight"] == penalty["hockney"]


def test_a_map_without_measurements(colltune: Run, tmp_path: Path) -> None:
    made = tmp_path / "model.json"
    words = ["model", "map", "-c", "bcast", "--parameters", "boba", "--comm-size", "4", "16", "--message-size", "1KiB"]
    words += ["65536"]
    answer = colltune(*words, "--segment-size", "0", "8KiB", "-o", made, "--json")
    document = answer.json
    assert (document["comm_size"], document["message_size"]) == ([4, 16], [1024, 65536])
    assert set(document["votes"]) == {"hockney", "loggp"}
    decision = DecisionFunction.load(made)
    for row, count in enumerate(document["comm_size"]):
        for column, size in enumerate(document["message_size"]):
            assert (
                decision.methods[decision.predict_one(count, size)].label
                == document["methods"][document["best"][row][column]]
            )
    named = colltune(*words, "--methods", "linear,pipeline 2KiB", "--model", "loggp", "--json").json
    assert named["methods"] == ["linear", "pipeline 2KiB"]
    assert "what loggp calls fastest (boba)" in colltune(*words, "--model", "loggp").out


def test_the_optimal_implementation(colltune: Run, tmp_path: Path) -> None:
    words = ["model", "map", "-c", "bcast", "--parameters", "grig-tcp", "--comm-size", "28", "--message-size", "1"]
    words += ["384KiB", "--optimal", "--multiple", "8"]
    hockney, loggp = (colltune(*words, "--model", name, "--json").json for name in ("hockney", "loggp"))
    # Figure 6.2: one byte in one piece by the binomial tree, and Hockney's segments are the larger ones.
    assert hockney["algorithms"][hockney["best"][0][0]] == "binomial"
    assert hockney["segment_size"][0][0] == 0
    assert hockney["segment_size"][0][1] > loggp["segment_size"][0][1] > 0
    assert hockney["segment_size"][0][1] % 8 == 0
    assert "optimal segment sizes in bytes" in colltune(*words, "--model", "loggp").out
    assert_one_clear_line(colltune(*words), "--optimal needs --model hockney or loggp or plogp")
    kib = colltune(*words, "--multiple", "1KiB", "--model", "hockney", "--json").json
    assert kib["segment_size"][0][1] % 1024 == 0
    assert_one_clear_line(colltune(*words, "--model", "loggp", "--trust", "loggp=2"), "--optimal takes no")
    made = tmp_path / "optimal.json"
    assert colltune(*words, "--model", "loggp", "-o", made).status == 0
    decision = DecisionFunction.load(made)
    large = decision.methods[decision.predict_one(28, 384 << 10)]
    assert large.algorithm == loggp["algorithms"][loggp["best"][0][1]]
    assert large.segment_size == loggp["segment_size"][0][1]


def test_models_are_judged_by_times_that_can_be_trusted(colltune: Run) -> None:
    results = ROOT / "sample_data" / "fast-ethernet-4x2-tuned" / "results.jsonl"
    answer = colltune("model", "decide", results, "-c", "bcast", "--parameters", "grig-tcp", "--json")
    assert "bcast: left out: 145 times that cannot be trusted" in answer.err
    cube = prepare(open_results(results)["bcast"].to_dataset()).cubes["bcast"]
    penalties = model_penalties(Problem.of(cube), find_parameters("grig-tcp"))
    assert answer.json["collectives"]["bcast"]["penalty"]["hockney"]["mean"] == penalties["hockney"][0].mean


def test_what_models_choose_by_a_parameter_that_no_measurement_determines_is_said_everywhere(
    colltune: Run, bcast_files: Sequence[Path], tmp_path: Path
) -> None:
    network, given = tmp_path / "f.json", ("--tree", "model", "--model", "loggp", "--parameters", tmp_path / "f.json")
    results = tmp_path / "bcast.nc"
    assert colltune("convert", *bcast_files, "-o", results).status == 0
    # A binomial tree without segments shows the sum of latency, overheads and gap alone.
    fitted = ("-c", "bcast", "--method", "binomial", "--model", "loggp", "-o", network)
    assert colltune("model", "fit", results, *fitted).status == 0
    said = "warning: bcast: choices of "
    assert said in colltune("decide", results, "-c", "bcast", *given).err
    rules = tmp_path / "bcast.rules"
    assert said in colltune("export", results, "-c", "bcast", *given, "--to", "openmpi", "-o", rules).err
    assert "Unsure: choices of" in " ".join(rules.read_text().replace("#", " ").split())
    sizes = ("--comm-size", "4", "16", "--message-size", "64", "64KiB")
    answer = colltune("model", "map", "-c", "bcast", "--model", "loggp", "--parameters", network, *sizes, "--json")
    assert "gap" in answer.json["undetermined"]


def test_that_reducing_costs_nothing_is_said(colltune: Run) -> None:
    words = ["model", "predict", "--algorithm", "pipeline", "--model", "hockney", "--comm-size", "4"]
    words += ["--message-size", "1KiB", "--parameters"]
    said = "gamma, the time to compute on a byte, is 0"
    assert said in colltune(*words, "alpha=5e-5,beta=8.5e-8", "-c", "reduce").err
    assert said not in colltune(*words, "alpha=5e-5,beta=8.5e-8,gamma=1e-9", "-c", "reduce").err
    assert said not in colltune(*words, "alpha=5e-5,beta=8.5e-8", "-c", "bcast").err
