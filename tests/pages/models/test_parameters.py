"""Parameters of the page *Models*: machines, sliders, what is typed in, files and fits."""

import json
from dataclasses import replace

import numpy as np
import pytest

from dashboard.models import MODEL_NAMES
from dashboard.models.fit import residual_table
from dashboard.models.observations import observe
from dashboard.models.parameter_text import write_set
from dashboard.pages.models.page import ModelsPage
from dashboard.pages.parts.reports import plain
from dashboard.session.state import State
from tests.conftest import FAST_ETHERNET
from tests.pages.models.viewing import source
from tests.uploading import upload


def test_a_machine_sets_all_sliders_and_what_it_lacks_can_be_typed_in(page: ModelsPage) -> None:
    page.panel.machine.value = "boba"
    assert page.panel.sliders["hockney", "alpha"].label.endswith("47.60 µs")
    assert page.panel.sliders["loggp", "gap_per_byte"].label.endswith("15 ns/B")
    page.panel.machine.value = "thunderbird"
    assert page.choice.view().models == ("hockney",)
    assert not page.panel.sliders["loggp", "gap"].visible
    assert "no parameters" in page.panel.notes["loggp"].object
    page.models.value = list(MODEL_NAMES)
    page.panel.typed["plogp"].value = "latency=5e-5,sizes=0/1024,gap=1e-5/9e-5,send_overhead=5e-6/6e-6"
    assert "receive_overhead" in page.panel.message.object.replace("\\", "")
    page.panel.typed["plogp"].value += ",receive_overhead=5e-6/7e-6"
    assert not page.panel.message.visible
    assert page.choice.view().models == ("hockney", "plogp")


def test_plogp_follows_loggp_where_it_has_no_parameters_of_its_own(page: ModelsPage) -> None:
    page.panel.machine.value = "grig-mx"
    page.models.value = list(MODEL_NAMES)
    slot = [each.algorithm for each in page.choice.methods].index("linear")
    loggp, plogp = (source(page.parts[0], f"curves {name}")["ys"][slot] for name in ("loggp", "plogp"))
    # Table 4.1 keeps the time of a message, and so that of all of them one after the other.
    assert plogp == pytest.approx(loggp)


def test_typed_parameters_are_taken_or_refused_with_the_reason(page: ModelsPage) -> None:
    page.panel.typed["hockney"].value = "alpha=50,beta=1e-8"
    assert page.panel.message.visible
    assert "microseconds" in page.panel.message.object
    assert page.choice.parameters["hockney"].alpha == pytest.approx(110.65e-6)
    page.panel.typed["hockney"].value = "alpha=5e-5,beta=1e-8"
    assert not page.panel.message.visible
    assert page.choice.parameters["hockney"].alpha == 5e-5


def test_a_fit_comes_nearer_to_the_measurements(page: ModelsPage, state: State) -> None:
    observed = observe(state.view.cube(), ["binomial"])

    def off() -> float:
        residuals = residual_table(observed, page.choice.parameters["hockney"])
        return float(np.abs(np.log(residuals["predicted"] / residuals["measured"])).mean())

    page.models.value, page.methods.value = ["hockney"], ["binomial"]
    page.panel.machine.value = "boba"
    before = off()
    page.panel._fit()
    assert page.choice.name_of_set == "fitted, bcast"
    assert off() < 0.3 * before
    assert "median error" in page.panel.source.object
    assert page.panel.machine.value == "fitted, bcast"


def test_the_ping_pong_gives_parameters_of_all_models(page: ModelsPage) -> None:
    page.panel._pingpong()
    assert set(page.choice.parameters) == set(MODEL_NAMES)
    page.models.value = list(MODEL_NAMES)
    before = page.choice.parameters["plogp"].gap[-1]
    page.panel.stretch.value = 0.3
    assert page.choice.parameters["plogp"].gap[-1] == pytest.approx(before * 10**0.3)


def test_an_empty_file_is_told_and_so_is_the_same_file_again(page: ModelsPage) -> None:
    upload(page.panel.file, "bad.json", b"{")
    assert page.panel.message.object.startswith(plain("bad.json:1: "))
    for _ in range(2):
        page.panel.message.object = ""
        upload(page.panel.file, "empty.json", b"")
        assert page.panel.message.object == plain("upload: the file is empty")
    upload(page.panel.file, "bad.json", b"{")
    page.panel.machine.value = "boba"
    assert not page.panel.message.visible
    upload(page.panel.file, "bad.json", b"{")
    assert page.panel.message.visible


def test_parameters_that_are_moved_are_called_changed(page: ModelsPage) -> None:
    page.panel.machine.value = "grig-tcp"
    assert "published" in page.panel.source.object
    gamma = page.choice.parameters["hockney"].gamma
    page.panel.typed["hockney"].value = "alpha=1e-4,beta=8e-8"
    page.panel.refresh()
    assert "changed by hand" in page.panel.source.object
    assert "began as grig-tcp: published" in page.panel.source.object
    assert page.panel.machine.value == "grig-tcp (changed)"
    assert write_set(page.choice.current()).startswith("grig-tcp (changed): ")
    # What is not typed stays; typed it goes.
    assert page.choice.parameters["hockney"].gamma == gamma > 0
    page.panel.typed["hockney"].value = "alpha=1e-4,beta=8e-8,gamma=0"
    assert page.choice.parameters["hockney"].gamma == 0
    page.choice.add("mine", page.choice.current())
    page.choice.put(replace(page.choice.parameters["hockney"], alpha=2e-4))
    assert page.choice.current().name == "grig-tcp (changed)"
    page.panel.refresh()
    page.panel.machine.value = "grig-tcp"
    assert page.choice.current().name == "grig-tcp"


def test_parameters_are_saved_and_loaded(page: ModelsPage, state: State) -> None:
    page.panel.machine.value = "boba"
    page.panel.sliders["hockney", "alpha"].value = -4.0
    text = page.panel.save.callback().read().decode()
    saved = json.loads(text)
    assert saved["provenance"]["how"] == "changed by hand"
    assert saved["provenance"]["from"]["sources"] == ["dissertation, Tables 4.12 and 4.13"]
    other = ModelsPage(state)
    other.panel.file.param.update(filename="mine.json", value=text.encode("utf-8-sig"))
    assert other.choice.parameters == page.choice.parameters
    table = FAST_ETHERNET / "pointtopoint.csv"
    other.panel.file.param.update(filename=table.name, value=table.read_bytes())
    assert other.choice.name_of_set == "pointtopoint"
    assert set(other.choice.parameters) == set(MODEL_NAMES)
    for content, words in ((b"{", "not JSON"), (b"\xff\xfe", "UTF-8"), (b"x" * (2 << 20), "at most")):
        other.panel.file.param.update(filename="bad.json", value=content)
        assert plain(words) in other.panel.message.object
        assert other.choice.name_of_set == "pointtopoint"
