"""The model file survives, is replaced whole, and is looked up in C as in Python, to the last bit."""

import ctypes
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dashboard.online.bins import Bins
from dashboard.online.draws import draws, stream
from dashboard.online.errors import OnlineError
from dashboard.online.library import LOOKUP
from dashboard.online.model_file import load, save, to_bytes
from dashboard.online.selection import Calls, Choice, SelectionModel
from dashboard.online.table import default_table, need_of
from dashboard.online.vectors import prefix, probabilities
from tests.bench.preloading import LIBRARY, STRICT
from tests.conftest import ran

INSTANCES = 250_000
HARNESS = """
#include <stdint.h>
#include <string.h>
{lookup}
int all(const unsigned char *file, uint64_t bytes, const char *name, int collective, uint64_t seed, long count,
        const long long *size, const int *nodes, const int *ppn, const int *processes, int *tried, int *tuned)
{{
    struct colltune_learnt learnt;
    long at;

    if (colltune_find_learnt(file, bytes, name, &learnt) != 1) return 0;
    for (at = 0; at < count; at++) {{
        int place = colltune_place(&learnt, colltune_row(&learnt, nodes[at], ppn[at]), size[at]);
        double draw = colltune_draw(colltune_stream(seed, (uint64_t)(at % 5)), collective, (uint64_t)at, 0);

        tried[at] = colltune_tried(&learnt, place, processes[at], size[at], draw);
        tuned[at] = colltune_tuned(&learnt, place, processes[at], size[at]);
    }}
    return 1;
}}
"""


def model(seed: int = 1) -> SelectionModel:
    """Random probabilities, some methods not allowed, some bins of which nothing is known."""
    generator = np.random.default_rng(seed)
    table = default_table("5.0")
    choices = {}
    for name, methods in table.methods.items():
        bins = Bins.regular(36, 32)
        allowed = generator.random((bins.count, len(methods))) < 0.8
        share = probabilities(generator.lognormal(0, 2, allowed.shape), allowed)
        best = np.where(generator.random(bins.count) < 0.1, 0, share.argmax(axis=1) + 1).astype(np.int32)
        needs = np.array([need_of(name, method) for method in methods], dtype=np.int32)
        choices[name] = Choice(bins, prefix(share), best, needs)
    return SelectionModel(table, choices, {"iteration": 3})


def test_a_model_survives_its_file(tmp_path: Path) -> None:
    made = model()
    save(made, tmp_path / "current.model")
    again = load(tmp_path / "current.model")
    assert again.table.digest == made.table.digest
    assert again.provenance == made.provenance
    for name, choice in made.choices.items():
        other = again.choices[name]
        assert np.array_equal(other.sums, choice.sums)
        assert np.array_equal(other.best, choice.best)
        assert np.array_equal(other.needs, choice.needs)
        for kept, known in ((other.bins.borders, choice.bins.borders), (other.bins.points, choice.bins.points)):
            assert all(np.array_equal(a, b) for a, b in zip(kept, known, strict=True))


@pytest.mark.parametrize("cut", [3, 40, 5000, -1])
def test_a_cut_file_is_refused_and_named(tmp_path: Path, cut: int) -> None:
    file = tmp_path / "cut.model"
    file.write_bytes(to_bytes(model())[:cut])
    with pytest.raises(OnlineError, match=r"cut\.model"):
        load(file)


@pytest.fixture(scope="module")
def look_up(tmp_path_factory: pytest.TempPathFactory, gcc: str) -> Any:
    """The function of `HARNESS`."""
    folder = tmp_path_factory.mktemp("lookup")
    source, library = folder / "lookup.c", folder / "lookup.so"
    source.write_text(HARNESS.format(lookup=LOOKUP.read_text(encoding="ascii")), encoding="ascii")
    ran([gcc, *STRICT, *LIBRARY, "-o", str(library), str(source)])
    return ctypes.CDLL(str(library)).all


@pytest.mark.parametrize("chosen", [-1, 255, 2**31 - 1])
def test_a_method_that_there_is_not_is_damage_in_c_as_in_python(tmp_path: Path, look_up: Any, chosen: int) -> None:
    made = model()
    name = next(iter(made.choices))
    content, kept = bytearray(to_bytes(made)), made.choices[name].best.tobytes()
    at = content.index(kept)
    head = ctypes.c_uint64(len(content)), name.encode(), 0, ctypes.c_uint64(9), ctypes.c_long(0), *[None] * 6
    assert look_up(bytes(content), *head) == 1
    content[at + 40 : at + 44] = np.int32(chosen).tobytes()
    assert look_up(bytes(content), *head) == 0
    (file := tmp_path / "odd.model").write_bytes(content)
    with pytest.raises(OnlineError, match=r"odd\.model: the model is damaged: it chooses methods"):
        load(file)


def test_the_look_up_in_c_is_that_of_python(look_up: Any) -> None:
    made, generator = model(), np.random.default_rng(2)
    content = to_bytes(made)
    size = np.where(generator.random(INSTANCES) < 0.1, 0, 2 ** generator.uniform(0, 62, INSTANCES)).astype(np.int64)
    nodes, ppn = (generator.integers(1, most, INSTANCES).astype(np.int32) for most in (40, 36))
    processes = np.where(generator.random(INSTANCES) < 0.5, nodes * ppn, generator.integers(2, 99, INSTANCES))
    processes = processes.astype(np.int32)
    for number, name in enumerate(made.choices):
        tried, tuned = np.zeros((2, INSTANCES), dtype=np.int32)
        pointers = [each.ctypes.data_as(ctypes.c_void_p) for each in (size, nodes, ppn, processes, tried, tuned)]
        head = (content, ctypes.c_uint64(len(content)), name.encode(), number, ctypes.c_uint64(9))
        assert look_up(*head, ctypes.c_long(INSTANCES), *pointers) == 1
        calls, at = Calls(size, nodes, ppn, processes), np.arange(INSTANCES)
        draw = draws(stream(9, at % 5), number, at)
        assert np.array_equal(made.choices[name].tried(calls, draw), tried)
        assert np.array_equal(made.choices[name].tuned(calls), tuned)
        assert len(np.unique(tried)) > 5
