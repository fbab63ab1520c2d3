"""Rows of a table by what someone types."""

import pandas as pd

HELP = "Words that the best or the chosen method contains, such as binomial; commas between them: all must hold."


def matching(frame: pd.DataFrame, asked: str) -> pd.DataFrame:
    """Rows whose best or chosen method contains each of the words, which have commas between them.

    Parameters
    ----------
    frame
        As `dashboard.plots.table.decision_table` makes it.
    """
    for word in filter(None, (each.strip() for each in asked.split(","))):
        contains = [frame[name].str.contains(word, case=False, regex=False) for name in ("best", "chosen")]
        frame = frame[contains[0] | contains[1]]
    return frame
