"""Times that cannot be trusted, as ``info`` lists them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dashboard.commands.output import finite

if TYPE_CHECKING:
    import xarray as xr


def listed(cube: xr.Dataset) -> list[dict[str, Any]]:
    """Doubtful times of a cube, as JSON takes them."""
    from dashboard.decisions.measured.trust import doubtful

    cells = doubtful(cube)
    names = [str(name) for name in cells.columns if name not in ("kind", "repetition")]
    rows = cells[names].to_dict("records")
    return [{str(name): finite(v) if isinstance(v, float) else v for name, v in row.items()} for row in rows]
