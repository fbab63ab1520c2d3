"""Where campaigns are kept, and what may name one."""

import os
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dashboard.benchmarks.campaigns import follow
from dashboard.benchmarks.campaigns.campaign import Campaign, write_json
from dashboard.benchmarks.campaigns.confined import jobs_folder
from dashboard.benchmarks.campaigns.plan import Plan
from dashboard.benchmarks.errors import CampaignError
from dashboard.benchmarks.launchers.launch import end_of
from dashboard.benchmarks.launchers.local import LocalLauncher
from dashboard.benchmarks.libraries.methods import Method
from dashboard.measuring import kept
from dashboard.measuring.kept import campaigns, campaigns_root, create, folder_of, free_name
from tests.files import run_file

PLAN = Plan(2, {"bcast": (Method("a"), Method("b"))}, (2,), (8, 64))
POINT = {"collective": "bcast", "algorithm": "a", "segment_size": 0, "comm_size": 2, "message_size": 8}


@pytest.mark.parametrize(
    ("environment", "root"),
    [
        ({"COLLTUNE_CAMPAIGNS": "/data/c"}, Path("/data/c")),
        ({"XDG_DATA_HOME": "/home/me/data"}, Path("/home/me/data/colltune/campaigns")),
        ({}, Path.home() / ".local/share/colltune/campaigns"),
    ],
)
def test_the_root_is_named_by_the_environment_or_the_users_own(
    monkeypatch: pytest.MonkeyPatch, environment: dict[str, str], root: Path
) -> None:
    monkeypatch.setattr(os, "environ", {"HOME": str(Path.home()), **environment})
    assert campaigns_root() == root


@given(st.text(max_size=80))
def test_no_name_leads_out_of_the_root(name: str) -> None:
    root = Path("/nowhere/campaigns")
    try:
        folder = folder_of(root, name)
    except CampaignError:
        return
    assert Path(os.path.normpath(folder)).parent == root
    assert name.isascii()
    assert name.isprintable()


@pytest.mark.parametrize(
    "name", ["", "..", ".hidden", "a/b", "../a", "/etc", "-rf", "a b", "a\n", "a\0b", "ä", "x" * 65]
)
def test_other_names_are_refused_with_what_is_allowed(name: str) -> None:
    with pytest.raises(CampaignError, match="allowed are letters, digits"):
        folder_of(Path("/nowhere"), name)


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "away").mkdir()
    Campaign.create(tmp_path / "away", PLAN)
    (tmp_path / "root").mkdir()
    (tmp_path / "root" / "here").symlink_to(tmp_path / "away")
    with pytest.raises(CampaignError, match="is a link"):
        folder_of(tmp_path / "root", "here")
    assert campaigns(tmp_path / "root") == ([], [])


def test_a_name_is_taken_once(tmp_path: Path) -> None:
    assert free_name(tmp_path, ("bcast",), 4) == "bcast-4-ranks"
    create(tmp_path, "bcast-4-ranks", PLAN)
    assert free_name(tmp_path, ("bcast",), 4) == "bcast-4-ranks-2"
    assert free_name(tmp_path, ("bcast", "reduce"), 4) == "2-collectives-4-ranks"
    with pytest.raises(CampaignError, match="there is a campaign bcast-4-ranks already"):
        create(tmp_path, "bcast-4-ranks", PLAN)


def test_of_several_that_ask_for_a_name_at_once_one_has_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Both have looked before either of them makes the folder.
    monkeypatch.setattr(Path, "exists", lambda *_, **__: False)
    create(tmp_path, "one", PLAN)
    with pytest.raises(CampaignError, match="there is a campaign one already"):
        create(tmp_path, "one", PLAN)


def test_a_longer_list_says_what_it_leaves_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept, "MOST_CAMPAIGNS", 2)
    for name in ("a", "b", "c"):
        create(tmp_path, name, PLAN)
    entries, faults = campaigns(tmp_path)
    assert len(entries) == 2
    assert faults == ["1 older than the 2 newest; move folders elsewhere to see them"]


@pytest.mark.parametrize("record", [{"started": "soon"}, {"launcher": "local"}])
def test_a_state_that_cannot_be_read_hides_no_other_campaign(tmp_path: Path, record: dict) -> None:
    create(tmp_path, "sound", PLAN)
    write_json(create(tmp_path, "odd", PLAN).state_file, record)
    entries, faults = campaigns(tmp_path)
    assert [entry.name for entry in entries] == ["sound"]
    assert [fault.partition(":")[0] for fault in faults] == ["odd"]


def test_the_list_tells_how_each_campaign_stands_by_what_is_on_disk(tmp_path: Path) -> None:
    assert campaigns(tmp_path / "nowhere") == ([], [])
    create(tmp_path, "planned", PLAN)
    ended = create(tmp_path, "ended", PLAN)
    order = jobs_folder(ended.folder) / "order.json"
    write_json(end_of(order), {"state": "failed", "reason": "exit code 3", "exit_code": 3})
    handle = {"mark": "m", "pid": 1, "started": 1, "order": str(order)}
    record = {"launcher": LocalLauncher().record(), "attempt": 1, "started": 2e9, "seconds": 60, "handle": handle}
    write_json(ended.state_file, record)
    run_file(ended.results, {**POINT, "samples": [1e-6]})
    (tmp_path / "torn").mkdir()
    (tmp_path / "torn" / "plan.json").write_text("{", encoding="utf-8")
    (tmp_path / "else").mkdir()
    entries, faults = campaigns(tmp_path)
    assert [(entry.name, entry.state, entry.measured, entry.points, entry.where) for entry in entries] == [
        ("ended", "failed", 1, 4, "local"),
        ("planned", "planned", 0, 4, ""),
    ]
    assert entries[0].reason == "exit code 3"
    assert len(faults) == 1
    assert faults[0].startswith("torn: ")
    assert str(tmp_path) not in faults[0]


def test_the_list_sees_what_has_changed_since(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(follow, "_FRESH_S", 0.0)
    campaign = create(tmp_path, "one", PLAN)
    assert campaigns(tmp_path)[0][0].measured == 0
    run_file(campaign.results, {**POINT, "samples": [1e-6]})
    assert campaigns(tmp_path)[0][0].measured == 1
    shutil.rmtree(campaign.folder)
    assert campaigns(tmp_path) == ([], [])
    create(tmp_path, "one", replace(PLAN, message_sizes=(8,)))
    assert campaigns(tmp_path)[0][0].points == 2
