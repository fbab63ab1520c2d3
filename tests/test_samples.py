"""What the dashboard opens at its start."""

from __future__ import annotations

from pathlib import Path

from dashboard.samples import DATA_VARIABLE, sample_data, sample_start, start_with


def test_the_sample_data_are_found_with_one_file_for_each_method() -> None:
    assert (sample_data() / "README.md").is_file()
    names = [path.name for path in sample_start().paths]
    assert len([name for name in names if not name.startswith("pt2pt")]) == 59
    assert names == sorted(names)


def test_without_anything_given_the_sample_data_are_opened() -> None:
    assert start_with(environment={}).sample


def test_the_environment_names_files_and_folders(tmp_path: Path) -> None:
    start = start_with(environment={DATA_VARIABLE: f"{tmp_path}:{tmp_path / 'more'}"})
    assert start.paths == (tmp_path, tmp_path / "more")
    assert not start.sample


def test_what_is_given_goes_before_the_environment(tmp_path: Path) -> None:
    start = start_with([tmp_path], {"algorithm": "ring"}, {DATA_VARIABLE: "/elsewhere"})
    assert start.paths == (tmp_path,)
    assert start.hints == {"algorithm": "ring"}
