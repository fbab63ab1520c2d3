"""Calls that one move of the depth slider makes below the page, for what the maps and the statistics show of it.

Run it with ``python -m tests.benchmarks.bench_slider_calls``. Before views were values derived from the choices it were
1,597 for the same answers, 815 of them to weigh what was kept; a quarter of that is the limit.
"""

import sys
from collections import Counter
from pathlib import Path
from types import FrameType
from typing import Any

from tests.states import sample_state

ROOT = Path(__file__).resolve().parents[2] / "dashboard"
LIMIT = 1597 // 4


def main() -> None:
    """Move the slider three times; all but the first are counted."""
    state = sample_state()

    def ask(_: Any) -> None:
        """What the page asks for at once; sweeps, source and table wait until the slider rests."""
        view = state.view
        asked = (view.cube, view.decision_map, lambda: view.needed().tied, view.decision, view.penalty)
        for answer in (*asked, view.statistics, view.remarks):
            answer()

    state.param.watch(ask, "shown")
    state.max_depth = 2
    calls: Counter[str] = Counter()

    def count(frame: FrameType, event: str, _: Any) -> None:
        path = Path(frame.f_code.co_filename)
        if event == "call" and path.is_relative_to(ROOT):
            calls[str(path.relative_to(ROOT))] += 1

    for depth in (4, 1):
        calls.clear()
        sys.setprofile(count)
        state.max_depth = depth
        sys.setprofile(None)
        print(f"depth {depth}: {sum(calls.values()):,} calls in {len(calls)} files (limit {LIMIT:,})")
        for name, number in calls.most_common(5):
            print(f"  {number:5,} {name}")


if __name__ == "__main__":
    main()
