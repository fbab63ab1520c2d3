"""Nodes, processes and how many of them share a node: two of these tell the third."""

import pandas as pd

from loaders.source import Source


def on_nodes(table: pd.DataFrame, nodes: int | None, source: Source) -> pd.DataFrame:
    """Fill in processes, or how many share a node, where the number of nodes is told.

    Parameters
    ----------
    table
        Rows of a file, which may have a column ``nodes``.
    nodes
        That they ran on, where no column tells; None = not told.
    source
        The file, where rows are counted that so many nodes cannot share.
    """
    if "nodes" in table:
        counts = table["nodes"]
        table = table.drop(columns="nodes")
    elif nodes is not None:
        counts = pd.Series(nodes, index=table.index)
    else:
        return table
    if "comm_size" not in table:
        return table.assign(comm_size=table["ppn"] * counts) if "ppn" in table else table
    if "ppn" in table and (table["comm_size"] > table["ppn"] * counts).any():
        source.note("rows have more processes than nodes times processes per node; nodes are not heeded", warn=True)
    if "ppn" in table:
        return table
    if (uneven := table["comm_size"] % counts != 0).all():
        source.note("no row has processes that the nodes share evenly; nodes are not heeded", warn=True)
        return table
    source.exclude(int(uneven.sum()), "processes that the nodes do not share evenly")
    return table[~uneven].assign(ppn=(table["comm_size"] // counts)[~uneven])
