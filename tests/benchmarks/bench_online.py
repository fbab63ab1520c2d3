"""What the library that tunes online adds to a call, beside a preloaded decision; aims: 0.2 µs tuned, 0.5 µs tuning.

The MPI library's own allgather is replaced by one that does nothing, in the same program and run: what is left is the
look-up of the communicator, the draw or the best of a bin, two looks at the clock and the note. Processor time of the
calling thread, on two processes; all ways in turns.
"""

import sys
import tempfile
from pathlib import Path

import numpy as np

from dashboard.benchmarks.libraries.library import find
from dashboard.decisions import DecisionFunction, Leaf, Method
from dashboard.export.targets.preload.library import to_preload
from dashboard.online.bins import Bins
from dashboard.online.library import source
from dashboard.online.model_file import save, to_bytes
from dashboard.online.selection import Choice, SelectionModel
from dashboard.online.table import default_table, need_of
from dashboard.online.vectors import prefix, probabilities
from loaders.openmpi import series
from tests.bench.preloading import LIBRARY, Bench

TURNS = 5
WAYS = {
    "tuned, nothing noted": ("tuned", "0"),
    "tuned, every call noted": ("tuned", str(2**32 - 1)),
    "tuning, every call chosen and noted": ("tuning", str(2**32 - 1)),
}


def main() -> None:
    installation = find()
    if installation.library.name != "Open MPI":
        sys.exit(f"{installation.mpiexec} is not Open MPI's")
    table, generator = default_table(series(installation.library.version)), np.random.default_rng(1)
    bins, choices = Bins.regular(36, 32), {}
    for name, methods in table.methods.items():
        share = probabilities(generator.lognormal(0, 1, (bins.count, len(methods))))
        needs = np.array([need_of(name, method) for method in methods], dtype=np.int32)
        choices[name] = Choice(bins, prefix(share), (share.argmax(axis=1) + 1).astype(np.int32), needs)
    model = SelectionModel(table, choices)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        bench = Bench(installation.mpiexec, folder, installation.library.environment(here=True, graphs=False))
        save(model, folder / "current.model")
        print(f"model of {sum(map(len, table.methods.values()))} methods: {len(to_bytes(model)) / 1024:.1f} KiB mapped")
        program = bench.program("preload_cost", "-DALLGATHER")
        decided = DecisionFunction("allgather", [Method("bruck", "bruck")], Leaf(0))
        plain = bench.build("libcolltune.so", to_preload(decided, version=bench.version), *LIBRARY)
        tuner = bench.build("libcolltune_online.so", source(table), *LIBRARY)
        least: dict[str, float] = {}
        for turn in range(TURNS):
            added = {"preloaded decision": bench.run(2, program, preload=plain).stdout}
            for way, (mode, most) in WAYS.items():
                said = {"COLLTUNE_ONLINE": mode, "COLLTUNE_ONLINE_CALLS": most, "COLLTUNE_ONLINE_OUT": name}
                said |= {"COLLTUNE_ONLINE_MODEL": str(folder / "current.model"), "COLLTUNE_ONLINE_RUN": f"run{turn}"}
                added[way] = bench.run(2, program, preload=tuner, said=said).stdout
                for file in folder.glob("*.trace"):
                    file.unlink()
            least |= {way: min(least.get(way, 1e9), float(text.split()[0])) for way, text in added.items()}
        for way, nanoseconds in least.items():
            print(f"{way}: {nanoseconds:.0f} ns added a call")


if __name__ == "__main__":
    main()
