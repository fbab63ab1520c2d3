"""Every real file, damaged in every way: nothing but `LoadError`, and no row lost in silence."""

from pathlib import Path

import pytest

from loaders import FORMATS, scan
from tests.conftest import ROOT
from tests.fuzz import DAMAGES, HINTS, LARGEST, inputs, run, sample_files
from tests.loaders.printed import samples_of, survive_damage

FORMATS_OF = {
    "skampi": "skampi",
    "skampi4": "skampi4",
    "osu": "osu",
    "imb": "imb",
    "reprompi": "reprompi",
    "mpi4py": "mpi4py_run",
    "pico": "pico",
}


def small_samples(samples: Path) -> list[Path]:
    small = []
    for folder in FORMATS_OF:
        files = [f for f in sorted((samples / folder).iterdir()) if f.is_file() and f.name != "SOURCES.md"]
        small += [f for f in files if f.stat().st_size <= LARGEST][:8]
    return small


@pytest.mark.parametrize("folder", ["osu", "imb", "mpi4py", "skampi4"])
def test_damaged_files_end_in_rows_or_in_a_load_error(samples: Path, tmp_path: Path, folder: str) -> None:
    survive_damage(FORMATS[FORMATS_OF[folder]], samples_of(samples / folder), tmp_path)


@pytest.mark.soak
def test_damaged_files_raise_nothing_but_load_errors_and_every_row_is_counted(samples: Path) -> None:
    files = sample_files([samples, ROOT / "sample_data"])
    faults, counts = run(files, seed=1, count=2 * len(files))
    assert not faults
    assert sum(counts.values()) == 2 * len(files)
    assert set(counts) == {damage.__name__ for damage in DAMAGES}


def test_an_input_is_made_again_by_its_seed_and_number(samples: Path) -> None:
    files = sample_files([samples / "osu"])
    assert list(inputs(files, 7, 40)) == list(inputs(files, 7, 60))[:40]
    assert len({content for *_, content in inputs(files, 7, 40)}) > 30


def test_a_garbled_row_is_counted_as_skipped_and_the_others_stay(samples: Path, tmp_path: Path) -> None:
    """Rows loaded + rows skipped stays what it was when the last figure of a row becomes unreadable."""
    for file in small_samples(samples):
        text = file.read_text(errors="replace")
        (before,) = scan(file, **HINTS)
        if before["error"]:
            continue
        lines = text.split("\n")
        rows = [i for i, line in enumerate(lines) if line[:1] in " 0123456789MnN" and len(line.split()) > 1]
        rows = [
            i for i in rows if sum(word.replace(".", "").isdigit() for word in lines[i].replace(",", " ").split()) > 1
        ]
        at = rows[len(rows) // 2] if rows else None
        if at is None:
            continue
        copy = tmp_path / file.name
        copy.write_text("\n".join([*lines[:at], "\x01" + lines[at].replace(".", "?", 9) + "?", *lines[at + 1 :]]))
        (after,) = scan(copy, **HINTS)
        assert after["present"] == before["present"], f"{file.name}, line {at + 1}"
        assert after["rows"] < before["rows"], f"{file.name}, line {at + 1}"


def test_every_sample_loads_or_says_why_not(samples: Path) -> None:
    for folder, format_name in FORMATS_OF.items():
        for file in sorted((samples / folder).iterdir()):
            if file.name in ("SOURCES.md", ".sources.tsv"):
                continue
            (report,) = scan(file)
            if report["error"] is None:
                assert report["format"] == format_name, file.name
                assert report["rows"] > 0, file.name
            else:
                assert file.name in report["error"]


def test_no_format_claims_the_files_of_another(samples: Path) -> None:
    for folder, format_name in FORMATS_OF.items():
        for file in sorted((samples / folder).iterdir()):
            head = file.read_bytes()[: 1 << 16]
            claims = {f.name for f in FORMATS.values() if f.recognises(head, file)}
            assert claims <= {format_name}, file.name
