"""Decision functions as a tree in memory that C walks: what a library has that reads its tree from a file.

It is no target of export, since nested ifs and tables decide in less time; it is timed beside them, as Table 4 of the
quadtree report and Table 6.6 of the dissertation do.
"""

from dashboard.decisions import DecisionFunction
from dashboard.export.targets.c.file import function
from dashboard.export.targets.c.text import integer


def definition(decision: DecisionFunction, name: str) -> list[str]:
    """Lines that define the function of a name, and the nodes that it walks: those of the tree as it was grown.

    A node holds its cuts (as many as the widest split tests), which attributes they are on, and where its children
    begin; a leaf its method.
    """
    tree = decision.tree
    if not tree.widths.size:
        return function(decision, name, (), [f"    return {int(tree.codes[0])};"])
    wide = tree.cuts.shape[1]
    limits, tested, first = tree.limits.tolist(), tree.tested.tolist(), tree.first_child.tolist()
    nodes = []
    for code in tree.codes.tolist():
        split = -1 - code
        cuts = ", ".join(map(integer, limits[split])) if code < 0 else ", ".join(["0"] * wide)
        attributes = ", ".join(map(str, tested[split])) if code < 0 else ", ".join(["0"] * wide)
        nodes.append(f"    {{{{{cuts}}}, {first[split] if code < 0 else -1 - code}, {{{attributes}}}}},")
    kind = f"{name}_node"
    lines = [
        f"struct {kind} {{",
        f"    long long cut[{wide}];",
        "    int child; /* the first of them, or -1 - method */",
        f"    unsigned char attribute[{wide}];",
        "};",
        "",
        f"static const struct {kind} {name}_nodes[{len(nodes)}] = {{",
        *nodes,
        "};",
        "",
    ]
    values = ", ".join(tree.attributes)
    steps = [
        f"        next += (values[node->attribute[{position}]] > node->cut[{position}]) << {position};"
        for position in range(wide)
    ]
    body = [
        f"    const long long values[{len(tree.attributes)}] = {{{values}}};",
        f"    const struct {kind} *node = {name}_nodes;",
        "",
        "    while (node->child >= 0) {",
        "        int next = node->child;",
        *steps,
        f"        node = {name}_nodes + next;",
        "    }",
        "    return -1 - node->child;",
    ]
    return [*lines, *function(decision, name, tree.attributes, body)]
