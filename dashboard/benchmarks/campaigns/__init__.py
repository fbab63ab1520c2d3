"""A campaign: its plan, its folder, how it is started, followed and resumed."""

__all__ = [
    "campaign",
    "confined",
    "control",
    "follow",
    "fresh",
    "groups",
    "limits",
    "pace",
    "plan",
    "protocol",
    "ranges",
    "reach",
    "wish",
]
