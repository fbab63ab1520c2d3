"""Patterns that are suggested for the names of files."""

import itertools

import pytest

from loaders.hints import compile_pattern
from loaders.suggesting import collective_of, left, pattern_of


def suggested(names: list[str], needs: tuple[str, ...] = ("algorithm", "comm_size"), **attrs: str) -> str | None:
    return pattern_of([{"path": f"/site/{name}", "needs": list(needs), "attrs": attrs} for name in names])


@pytest.mark.parametrize(
    ("form", "parts", "pattern"),
    [
        ("bcast_{}_{}.out", [("ring", "own"), (4, 8)], "bcast_{algorithm}_{comm_size}.out"),
        (
            "bcast_{}_8_{}.out",
            [("ring", "linear"), ("rome", "skylake")],
            "bcast_{algorithm}_{comm_size}_{campaign}.out",
        ),
        ("{}/np{}.txt", [("ring", "binomial"), (4, 8)], "{algorithm}/np{comm_size}.txt"),
        ("r{}/b-{}-16ranks.log", [(1, 2), ("chain", "ring")], "{campaign}/b-{algorithm}-{comm_size}ranks.log"),
        ("osu_bcast_np{}_alg{}.txt", [(4, 8), (1, 2)], "osu_bcast_np{comm_size}_alg{algorithm}.txt"),
        ("x.n{}.ppn{}.{}.dat", [(2, 4), (1, 2), ("a", "b")], "x.n{nodes}.ppn{ppn}.{algorithm}.dat"),
        ("bcast_{}_8_{}.txt", [("ring", "linear"), ("host", "gpu")], "bcast_{algorithm}_{comm_size}_{device}.txt"),
        ("{}-{}-np{}.txt", [("ring", "chain"), (0, 8192), (4, 8)], "{algorithm}-{segment_size}-np{comm_size}.txt"),
        ("bcast_{}_{}_8.out", [("ring", "chain"), ("1k", "8KiB")], "bcast_{algorithm}_{segment_size}_{comm_size}.out"),
        ("bcast_{}_{}_{}", [("ring", "chain"), (1024, 8192), (4, 8)], "bcast_{algorithm}_{segment_size}_{comm_size}"),
        ("bcast_{}_np8_{}.txt", [("ring", "chain"), (1, 2)], "bcast_{algorithm}_np{comm_size}_{campaign}.txt"),
        ("bcast_{}_{}.out", [("ring", "chain"), (512, 1024)], "bcast_{algorithm}_{comm_size}.out"),
        ("osu_bcast {} P{}.txt", [("ring", "chain"), (4, 8)], "osu_bcast {algorithm} P{comm_size}.txt"),
        (
            "{}/b {} {}.txt",
            [("ompi-4.1.5", "ompi-5.0"), ("ring", "chain"), (4, 8)],
            "{campaign}/b {algorithm} {comm_size}.txt",
        ),
        ("{} ({} ranks).txt", [("ring", "chain"), (4, 8)], "{algorithm} ({comm_size} ranks).txt"),
        ("bcast_{}_{}.txt.gz", [("ring", "chain"), (4, 8)], "bcast_{algorithm}_{comm_size}.txt.gz"),
        ("b_{}_{}.txt{}", [("ring", "chain"), (4, 8), ("", ".gz")], "b_{algorithm}_{comm_size}.txt*"),
        ("bcast_{}_{}.out", [(1, 2), (4, 8)], None),
        ("{}.txt", [("host", "cuda")], None),
        ("bcast_{}_{}_8.out", [("ring", "linear"), ("ring", "chain")], None),
        ("bcast_{}_8_{{x}}.out", [("ring", "linear")], None),
    ],
)
def test_names_tell_their_own_pattern(form: str, parts: list[tuple[object, ...]], pattern: str | None) -> None:
    names = [form.format(*each) for each in itertools.product(*parts)]
    assert suggested(names) == pattern
    if pattern is not None:
        assert all(compile_pattern(pattern).search(name) for name in names)
        assert left(pattern, ["algorithm", "comm_size"]) == []


@pytest.mark.parametrize("runs", [(0, 1), (1, 2, 3)])
def test_numbers_of_runs_are_not_taken_for_processes(runs: tuple[int, ...]) -> None:
    pattern = suggested([f"bcast_{name}_{run}.out" for name in ("ring", "chain") for run in runs])
    assert pattern == "bcast_{algorithm}_{campaign}.out"
    assert left(pattern, ["algorithm", "comm_size"]) == ["comm_size"]


def test_two_names_suffice_if_the_pattern_fits_more_than_half_of_all() -> None:
    names = ["bcast_ring_4.out", "bcast_chain_8.out"]
    assert suggested(names) == suggested([*names, "bcast-linear-2.out"]) == "bcast_{algorithm}_{comm_size}.out"
    assert suggested([*names, "bcast-linear-2.out", "bcast.ring-16.out"]) is None
    assert suggested(names[:1]) is None


def test_an_algorithm_that_files_tell_themselves_is_not_asked_of_their_names() -> None:
    """They may spell it otherwise, such as ``Linear`` in bcast_linear.csv, or hold them all, as bcast_results.csv."""
    assert (
        suggested(["bcast_linear.csv", "bcast_chain.csv", "bcast_results.csv"], ("collective",))
        == "{collective}_{_}.csv"
    )


@pytest.mark.parametrize(("few", "pattern"), [(10, "nccl_N10_{algorithm}.log"), (2, "nccl_{_}_{algorithm}.log")])
def test_processes_that_files_tell_themselves_are_not_asked_of_their_names(few: int, pattern: str) -> None:
    """``N`` may be nodes: that there are so many processes would contradict the files."""
    assert suggested([f"nccl_N{few}_x.log", "nccl_N10_y.log"], ("algorithm",)) == pattern


def test_a_time_of_day_is_no_algorithm() -> None:
    names = [f"IMB_{nodes}nodes_{when}.out" for nodes, when in ((2, 202012102002), (4, 202012102058))]
    assert suggested(names, ("algorithm",)) is None
    assert suggested([f"np{place}_{name}" for place, name in enumerate(names, 2)]) == (
        "np{comm_size}_IMB_{nodes}nodes_{campaign}.out"
    )


@pytest.mark.parametrize(
    ("names", "pattern"),
    [
        (["barrierEPYC.csv", "barrierTHIN.csv", "bcastEPYC.csv", "bcastTHIN.csv"], "{collective}{campaign}.csv"),
        (["BCASTHOT.csv", "BARRIERHOT.csv"], None),
        (["scatterfix0.csv", "gatherfix0.csv"], None),
    ],
)
def test_a_capital_after_a_small_letter_ends_a_collective(names: list[str], pattern: str | None) -> None:
    assert suggested(names, ("collective",)) == pattern


def test_what_a_collective_of_several_words_leaves_is_the_algorithm() -> None:
    names = [f"reduce_scatter_{name}_{size}.dat" for name in ("ring", "butterfly") for size in (2, 4)]
    assert suggested(names, ("collective", "algorithm", "comm_size")) == "{collective}_{algorithm}_{comm_size}.dat"


def test_a_device_that_files_tell_themselves_is_not_asked_of_their_names() -> None:
    names = [
        f"b_{name}_{size}.{where}.out" for name in ("ring", "chain") for size in (4, 8) for where in ("gpu", "host")
    ]
    assert suggested(names, device="CUDA") == "b_{algorithm}_{comm_size}.{_}.out"


@pytest.mark.parametrize(
    ("paths", "collective"),
    [
        (["hpc/scatter0_core.csv", "hpc/scatter1_core.csv"], "scatter"),
        (["osu_allreduce-32.csv"], "allreduce"),
        (["scatter_data/fix0.csv", "scatter_data/fix1.csv"], "scatter"),
        (["bcast/results/np4.csv", "bcast/results/np8.csv"], "bcast"),
        (["bcast_a.csv", "scatter_a.csv"], None),
        (["bcast_a.csv", "other.csv"], None),
        (["mapreduce.csv", "gathering.csv"], None),
    ],
)
def test_names_of_files_or_folders_tell_their_collective(paths: list[str], collective: str | None) -> None:
    assert collective_of(paths) == collective


def test_a_number_may_follow_the_collective_at_once() -> None:
    """Of sweeps over the numbers of a library's algorithms, or over processes."""
    needs = ("collective", "algorithm")
    sweep = [f"{name}_{place}.csv" for name in ("bcast1", "bcast2", "gather1") for place in ("core", "socket")]
    assert suggested(sweep, needs) == "{collective}{algorithm}_{campaign}.csv"
    match = compile_pattern("{collective}{algorithm}_{campaign}.csv").search("reduce_scatter3_core.csv")
    assert match is not None
    assert match.groups() == ("reduce_scatter", "3", "core")
    assert suggested(["osu_bcast4.out", "osu_bcast16.out"], ("comm_size",)) == "osu_bcast{comm_size}.out"
