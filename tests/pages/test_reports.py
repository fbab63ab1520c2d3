"""What loading tells of files, in tables and sentences."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from dashboard.pages.parts.reports import (
    files_table,
    headline,
    needed,
    pattern_preview,
    plain,
    skipped_table,
    skipped_text,
    usable,
)

GOOD = {"path": "/d/a.sko", "format": "skampi", "rows": 9, "skipped": 0, "collectives": ["bcast"], "needs": []}
PARTLY = {
    **GOOD,
    "path": "/d/b.sko",
    "skipped": 3,
    "reasons": {"not a row": 2, "time is 0": 1},
    "skips": [{"line": 7, "text": "noise", "reason": "not a row"}, {"line": 9, "text": "x", "reason": "not a row"}],
}
NEEDY = {**GOOD, "path": "/d/c.txt", "format": "osu", "needs": ["algorithm", "comm_size"]}
BAD = {**GOOD, "path": "/d/README", "format": None, "rows": 0, "error": "/d/README: of no format that is known"}
REPORTS: list[dict[str, Any]] = [GOOD, PARTLY, NEEDY, BAD]


def test_each_file_has_a_row_that_says_what_became_of_it() -> None:
    table = files_table(REPORTS, [Path("/d")])
    assert table["file"].tolist() == ["a.sko", "b.sko", "c.txt", "README"]
    assert table["result"].tolist() == ["loaded", "in part", "needs hints", "refused"]
    assert "algorithm, comm_size" in table["remarks"][2]
    assert table["remarks"][3] == "/d/README: of no format that is known".removeprefix("/d/")


def test_skipped_rows_are_listed_with_line_and_reason_and_counted() -> None:
    table, skipped = skipped_table(REPORTS, [Path("/d")])
    assert table.values.tolist() == [["b.sko", 7, "not a row", "noise"], ["b.sko", 9, "not a row", "x"]]
    assert skipped == 3
    text = skipped_text(REPORTS, len(table))
    assert "3 rows were not loaded" in text
    assert "2 × not a row" in text
    assert "2 of them are listed" in text


def test_what_files_need_is_counted_and_refused_files_need_nothing() -> None:
    assert needed([*REPORTS, NEEDY, {**BAD, "needs": ["algorithm"]}]) == {"algorithm": 2, "comm_size": 2}


def test_only_files_without_error_or_need_are_usable() -> None:
    assert usable(REPORTS) == [Path("/d/a.sko"), Path("/d/b.sko")]


def test_the_headline_counts_what_was_left_out() -> None:
    text = headline(REPORTS, methods=1, cells=9, collectives=1)
    assert "3 rows skipped" in text
    assert "1 file refused" in text


@given(st.text(st.characters(min_codepoint=33, max_codepoint=126), min_size=1, max_size=60))
def test_plain_text_comes_out_of_markdown_as_it_went_in(text: str) -> None:
    inline = MarkdownIt().renderInline(plain(text))
    shown = inline.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", '"').replace("&amp;", "&")
    assert shown == text


@pytest.mark.parametrize("pattern", ["{nonsense}.sko", "{collective}{collective}"])
def test_a_wrong_pattern_is_explained(pattern: str) -> None:
    shown, matching, error = pattern_preview(pattern, ["a.sko"])
    assert (shown, matching) == ([], 0)
    assert pattern in error


def test_the_preview_shows_what_a_pattern_says_and_what_does_not_match() -> None:
    names = ["bcast__chain__seg8192.sko", "README.md"]
    shown, matching, error = pattern_preview("{collective}__{algorithm}__seg{segment_size}.sko", names)
    assert (matching, error) == (1, "")
    remarks = dict(shown)
    assert "does not match" in remarks["README.md"]
    assert all(part in remarks[names[0]] for part in ("bcast", "chain", "8192"))
