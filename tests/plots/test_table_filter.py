"""What someone types to see some rows of the table."""

import pandas as pd
import pytest

from dashboard.plots.table_filter import matching


@pytest.mark.parametrize(
    ("asked", "rows"),
    [("", [0, 1, 2]), ("Binomial", [0, 1]), ("binomial, linear", [0]), ("(no such method", [])],
)
def test_rows_of_which_all_words_hold(asked: str, rows: list[int]) -> None:
    methods = {"best": ["linear", "binomial 1KiB", ""], "chosen": ["binomial", "pipeline", "pipeline"]}
    assert matching(pd.DataFrame(methods), asked).index.tolist() == rows
