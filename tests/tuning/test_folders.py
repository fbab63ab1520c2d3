"""The folder of a tuning: what others put there stays, and what is somebody else's is left alone."""

from pathlib import Path
from zipfile import ZipFile

import pytest

from dashboard.benchmarks.campaigns.campaign import Campaign, write_json
from dashboard.benchmarks.errors import BenchError, CampaignError
from dashboard.tuning import tune
from dashboard.tuning.asked import Asked
from dashboard.tuning.folder import Folder
from dashboard.tuning.order import answer, lines_of
from tests.tuning.machine import work_in

pytestmark = pytest.mark.slow


def test_what_others_put_into_the_bundle_stays(tuned: Path) -> None:
    library = tuned / "bundle" / "libcolltune.so"
    library.write_bytes(b"preloaded by jobs")
    assert tune(work_in(tuned, target="c"))["bundle"]
    assert (tuned / "bundle" / "decisions-c.c").exists()
    # It is no longer asked for, and was the bundle's own.
    assert tune(work_in(tuned, target="rules"))["bundle"]
    assert not (tuned / "bundle" / "decisions-c.c").exists()
    assert library.read_bytes() == b"preloaded by jobs"
    with ZipFile(tuned / "bundle.zip") as archive:
        assert "bundle/libcolltune.so" not in archive.namelist()


def test_a_bundle_of_an_older_version_is_said_to_lack_what_this_one_tells_until_it_is_made_anew(tuned: Path) -> None:
    folder = Folder(tuned)
    told = answer(folder, {})["limits"]
    stages = folder.state()
    del stages["bundle"]["facts"]["limits"]
    write_json(folder.state_file, {"colltune_tune": 1, "stages": stages})
    assert not tune(work_in(tuned))["bundle"]
    assert lines_of(answer(folder, {}))[-1].startswith("An older version of colltune made the bundle")
    (tuned / "bundle" / "summary.json").unlink()
    assert tune(work_in(tuned))["bundle"]
    assert answer(folder, {})["limits"] == told


@pytest.mark.parametrize(
    ("name", "record", "message"),
    [
        (
            "state.json",
            '{"colltune_tune": 1, "stages": []}',
            "is not as colltune wrote it; remove it: the same command",
        ),
        ("state.json", '{"colltune_tune": 1, "stages": {"measure": 3}}', "is not as colltune wrote it; remove it"),
        ("state.json", '{"colltune_tune": 1, "stages": {"decide": {"facts": []}}}', "is not as colltune wrote it"),
        (
            "asked.json",
            '{"slurm": []}',
            r"asked.json\) cannot be read: what is asked of Slurm is \[\]; right would be a table",
        ),
        (
            "asked.json",
            '{"slurm": {"modules": [3]}}',
            r"asked.json\) cannot be read: modules \[3\]: right would be a list",
        ),
        ("asked.json", '{"slurm": {"environment": "x"}}', r"cannot be read: environment 'x': right would be a table"),
    ],
)
def test_a_damaged_record_is_named_with_what_is_wrong_in_it(
    tmp_path: Path, name: str, record: str, message: str
) -> None:
    (tmp_path / "asked.json").write_text("{}")
    (tmp_path / name).write_text(record)
    folder = Folder(tmp_path)
    with pytest.raises(BenchError, match=message):
        _ = Asked.of(folder.asked(), {}), folder.state()


@pytest.mark.parametrize("name", ["bundle", "state.json", "plan.json"])
def test_a_folder_that_holds_what_no_tuning_made_is_refused_before_anything_is_written(
    tmp_path: Path, name: str
) -> None:
    (tmp_path / name).mkdir()
    with pytest.raises(CampaignError, match=f"holds {name} that no tuning made; name another folder"):
        tune(work_in(tmp_path))
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_no_campaign_is_begun_in_the_folder_of_a_tuning(finished: Path) -> None:
    with pytest.raises(CampaignError, match=r"holds a tuning; its campaign is .*/measure$"):
        Campaign.create(finished, Campaign(finished / "measure").plan())
