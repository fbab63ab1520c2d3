"""A tuning as a line of a list."""

import time
from typing import Any

from dashboard.measuring import tunings as kept

_ICONS = {
    "running": ("play_circle", "primary"),
    "proven": ("verified", "success"),
    "nothing": ("check_circle", "default"),
    "unproven": ("gpp_maybe", "warning"),
    "noise": ("graphic_eq", "warning"),
    "short": ("timer_off", "warning"),
    "failed": ("error", "error"),
    "cancelled": ("cancel", "warning"),
    "interrupted": ("pause_circle", "warning"),
}


def tuning_item(tuning: kept.Tuning) -> dict[str, Any]:
    """Line of a `dashboard.pages.measure.list.CampaignList`."""
    icon, color = _ICONS.get(tuning.state, ("hourglass_empty", "default"))
    asked = tuning.asked
    what = kept.OUTCOMES.get(tuning.state, tuning.state)
    collectives = list(asked.get("collectives", ()))
    named = ", ".join(collectives[:3]) + (" …" if len(collectives) > 3 else "")
    began = time.strftime("%Y-%m-%d %H:%M", time.localtime(tuning.began))
    about = f"{what}{tuning.where} · {named} · {asked.get('ranks', '?')} ranks · {began}"
    return {"label": tuning.name, "secondary": about, "icon": icon, "color": color}
