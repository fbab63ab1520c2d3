"""Damaged rules, plans, models, scenarios, folders: the command ends with an answer or with one line."""

import pytest

from tests.fuzz_commands import nested, odd_values, run

#: Of each of some 20 kinds of files one of each damage.
COUNT = 60


@pytest.mark.slow
def test_a_damaged_file_of_any_kind_ends_in_one_line() -> None:
    assert not run(seed=1, count=COUNT, damages=(odd_values, nested, odd_values))
