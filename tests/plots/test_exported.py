"""What is known of a rules file, as HTML."""

from __future__ import annotations

from dashboard.export.rules import Fault
from dashboard.export.rules.lint import read_text
from dashboard.export.targets.mpich.base import known
from dashboard.plots.exported import MOST_FAULTS, faults_table, rules_table


def test_many_faults_are_counted_as_all_numbers_are_written() -> None:
    faults = [Fault(line, "warning", "odd", "passed over") for line in range(1, 1235)]
    shown = faults_table([*faults, Fault(None, "error", "wrong", "ignored")])
    assert "Check: 1 error, 1,234 warnings" in shown
    assert f"{1235 - MOST_FAULTS:,} more are not listed" in shown


def test_what_an_mpich_s_file_leaves_as_it_was_is_counted_alone() -> None:
    own = known("5.0") or ""
    assert rules_table(read_text(own), ()).count("<tr>") == 1
    shown = rules_table(read_text(own.replace("MPIR_Scan_intra_recursive_doubling", "MPIR_Scan_allcomm_nb")), ())
    assert "<td>scan</td>" in shown
    assert shown.count("<tr>") == 2
    assert "<p>43 collectives as MPICH has them by itself.</p>" in shown
