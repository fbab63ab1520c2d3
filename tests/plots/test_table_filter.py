"""What someone types to see some rows of the table."""

import numpy as np
import pandas as pd
import pytest

from dashboard.plots.table_filter import matching


@pytest.fixture
def frame() -> pd.DataFrame:
    return pd.DataFrame(
        {
            "processes": [2, 4, 16],
            "message size [B]": [8, 65536, 1 << 20],
            "best": ["linear", "binomial 1KiB", ""],
            "best time [µs]": [40.0, 2500.0, np.nan],
            "chosen": ["binomial", "pipeline", "pipeline"],
            "chosen time [µs]": [44.0, 2500.0, np.nan],
            "penalty [%]": [10.0, 0.0, np.nan],
            "methods measured": [5, 5, 0],
        }
    )


@pytest.mark.parametrize(
    ("asked", "rows"),
    [
        ("", [0, 1, 2]),
        ("Binomial", [0, 1]),
        ("binomial, linear", [0]),
        ("penalty > 0", [0]),
        ("penalty <= 10 %", [0, 1]),
        ("size = 64KiB", [1]),
        ("size >= 64 KiB, processes != 4", [2]),
        ("best time > 2ms", [1]),
        ("chosen time < 1s", [0, 1]),
        ("methods = 0", [2]),
        ("(no such method", []),
    ],
)
def test_rows_of_which_all_parts_hold(frame: pd.DataFrame, asked: str, rows: list[int]) -> None:
    assert matching(frame, asked).index.tolist() == rows


@pytest.mark.parametrize(
    ("asked", "message"), [("speed > 3", "no column"), ("size > much", "not a size"), ("penalty < x", "no number")]
)
def test_what_cannot_be_compared_is_said(frame: pd.DataFrame, asked: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        matching(frame, asked)
