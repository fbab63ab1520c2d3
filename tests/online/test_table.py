"""The table of methods: by names, as appendix A of the source lists them for Open MPI 4.1."""

import re

import numpy as np
import pytest

from dashboard.decisions.function.nodes import Method
from dashboard.export.library_names import choice_of
from dashboard.online.bins import Bins
from dashboard.online.errors import OnlineError
from dashboard.online.selection import Calls, Choice
from dashboard.online.table import AlgTable, default_table, need_of, usable, with_own
from dashboard.online.vectors import prefix


def test_parameters_make_methods_of_their_own() -> None:
    table = default_table("4.1", segment_sizes=(1024, 1 << 20, 8 << 20), fan_outs=(1, 4, 16))
    labels = {name: [method.label for method in methods] for name, methods in table.methods.items()}
    # Eight as in the appendix: four algorithms, the segmented ring three times, and Rabenseifner's.
    assert len(labels["allreduce"]) == 8
    assert [label for label in labels["bcast"] if label.startswith("chain")] == [
        f"chain {size} fan_out={fan}" for size in ("1KiB", "1MiB", "8MiB") for fan in (1, 4, 16)
    ]
    assert [label for label in labels["alltoall"] if label.startswith("linear_sync")] == [
        f"linear_sync max_requests={most}" for most in (0, 64, 128, 512)
    ]


def test_no_method_of_6_0_has_a_fan_out_with_which_it_never_ends() -> None:
    methods = default_table("6.0", fan_outs=(1, 4, 16)).methods["allgather"]
    bruck = [method.parameters["fan_out"] for method in methods if method.algorithm == "bruck-k-fanout"]
    assert bruck == [4, 16]


def test_a_name_is_the_library_s_number_and_not_that_of_the_appendix() -> None:
    # Appendix A calls the binomial broadcast 5; in Open MPI 4.1 that is the binary tree.
    assert choice_of(Method("binomial", "binomial"), "bcast", "4.1").algorithm == 6


def test_the_digest_tells_tables_apart_and_survives_json() -> None:
    table = default_table("5.0")
    assert AlgTable.from_dict(table.to_dict()).digest == table.digest
    assert default_table("5.0", fan_outs=(2,)).digest != table.digest
    with pytest.raises(OnlineError, match="cannot be read"):
        AlgTable.from_dict({"methods": []})


def test_methods_that_would_fall_back_are_known() -> None:
    needs = {m.label: need_of("allgather", m) for m in default_table("5.0").methods["allgather"]}
    assert usable(needs["two_proc"], [2, 4], 8).tolist() == [True, False]
    assert usable(needs["recursive_doubling"], [8, 12], 8).tolist() == [True, False]
    assert usable(needs["neighbor"], [8, 7], 8).tolist() == [True, False]
    assert usable(needs["ring"], [8, 7], 8).all()
    # coll/base: with less than an element for each process these hand the call to another algorithm.
    by_name = {m.algorithm: need_of("allreduce", m) for m in default_table("5.0").methods["allreduce"]}
    short = {name for name, need in by_name.items() if not usable(need, 8, 7)}
    assert short == {"ring", "segmented_ring", "rabenseifner"}
    assert all(usable(need, 8, 8) for need in by_name.values())


def test_what_a_method_that_cannot_be_would_have_got_goes_to_the_others_by_their_shares() -> None:
    needs = np.array([0, 2, 0], dtype=np.int32)
    bins = Bins.regular(1, 1)
    sums = np.broadcast_to(prefix([0.2, 0.5, 0.3]), (bins.count, 3))
    choice = Choice(bins, sums, np.full(bins.count, 2, dtype=np.int32), needs)
    draw = (np.arange(10_000) + 0.5) / 10_000
    numbers = choice.tried(Calls(np.full(10_000, 8), np.full(10_000, 3), np.ones(10_000), np.full(10_000, 3)), draw)
    assert np.bincount(numbers, minlength=4) == pytest.approx([0, 4000, 0, 6000], abs=5)
    three = Calls(np.array([8]), np.array([3]), np.array([1]), np.array([3]))
    assert choice.tuned(three).tolist() == [3]


def test_own_methods_are_for_one_number_of_processes_each() -> None:
    table = with_own(default_table("5.0"), ["ring", "bruck"], [4, 6])
    own = {
        m.label: need_of("allgather", m) for m in table.methods["allgather"] if m.parameters.get("provider") == "own"
    }
    assert list(own) == [f"{name} processes={size} provider=own" for name in ("ring", "bruck") for size in (4, 6)]
    assert usable(own["bruck processes=6 provider=own"], [4, 6, 6], [100, 100, 5]).tolist() == [False, True, False]
    for words, said in (
        (["magic"], "none of allreduce, bcast, allgather, alltoall has an own method 'magic'"),
        (["orthogonal:grid=2x2"], "a grid of 2x2 is for 4 processes; found 6"),
        (["orthogonal:grid=2x3:inner=library+linear"], "some phases are calls of the library and some are not"),
    ):
        with pytest.raises(OnlineError, match=re.escape(said)):
            with_own(default_table("5.0"), words, [6])
