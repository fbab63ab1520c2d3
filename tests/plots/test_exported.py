"""What is known of a rules file, as HTML."""

from __future__ import annotations

from dashboard.export.rules import Fault
from dashboard.plots.exported import MOST_FAULTS, faults_table


def test_many_faults_are_counted_as_all_numbers_are_written() -> None:
    faults = [Fault(line, "warning", "odd", "passed over") for line in range(1, 1235)]
    shown = faults_table([*faults, Fault(None, "error", "wrong", "ignored")])
    assert "Check: 1 error, 1,234 warnings" in shown
    assert f"{1235 - MOST_FAULTS:,} more are not listed" in shown
