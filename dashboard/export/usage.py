"""How each exported file is put to use: environment variables, command lines, build lines."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from dashboard.export.components import TUNED_FIRST, parameters


class Step(NamedTuple):
    """One thing to do: why, and the command or lines to type; empty where there is nothing to type."""

    words: str
    command: str = ""


#: Makes a library to preload of its source.
BUILD = "mpicc -std=c99 -O2 -shared -fPIC -pthread -o {library} {source}"
#: Names the selection to an MPICH; empty: its own.
MPICH_FILE = "MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE"


def used_in_text(steps: Sequence[Step]) -> str:
    """The steps as plain text, commands indented."""
    parts = []
    for step in steps:
        command = "".join(f"    {line}\n" for line in step.command.splitlines())
        parts.append(f"{step.words}\n{command}")
    return "\n".join(parts)


def mpich_parameters(name: str, collectives: Iterable[str]) -> dict[str, str]:
    """Environment variables with which a selection acts.

    The device, which knows the nodes, decides first; of the collectives that have no rules it still shall.

    Parameters
    ----------
    name
        Of the file.
    collectives
        That it has rules for.
    """
    portable = {f"MPIR_CVAR_{collective.upper()}_DEVICE_COLLECTIVE": "0" for collective in collectives}
    return {MPICH_FILE: name, "MPIR_CVAR_DEVICE_COLLECTIVES": "percoll", **portable}


def han_name(name: str) -> str:
    """Name of the file of HAN's rules that stands beside one of tuned's."""
    stem, dot, ending = name.rpartition(".")
    return f"{stem}-han{dot}{ending}" if stem and "/" not in ending else f"{name}-han"


def steps_of(steps: Sequence[Step], name: str, collectives: Sequence[str]) -> list[Step]:
    """The steps of a kind of file, of which those below are, for a file of this name that decides some collectives."""
    first = next(iter(collectives), "bcast")
    variables = mpich_parameters(f"$PWD/{name}", collectives).items()
    words = {
        "name": name,
        "source": name,
        "first": first,
        "FIRST": first.upper(),
        "module": name.removesuffix(".py"),
        "library": f"lib{name.removesuffix('.c')}.so",
        "other": han_name(name),
        "mpich": "\n".join(f"export {each}={value}" for each, value in variables),
    }
    return [Step(*(text.format(**words) for text in step)) for step in steps]


#: A rules file of Open MPI.
OPEN_MPI = (
    Step(
        "On the command line of mpirun; every process must be able to read the file:",
        "mpirun --mca coll_tuned_use_dynamic_rules 1 \\\n"
        "       --mca coll_tuned_dynamic_rules_filename $PWD/{name} -n 16 ./program",
    ),
    Step(
        "Or by the environment, such as in a job script under srun:",
        "export OMPI_MCA_coll_tuned_use_dynamic_rules=1\nexport OMPI_MCA_coll_tuned_dynamic_rules_filename=$PWD/{name}",
    ),
    Step(
        "Across nodes the component han is asked first and would decide, on some sites hcoll and ucc; switch them off:",
        f"export OMPI_MCA_coll={TUNED_FIRST}",
    ),
    Step("Open MPI silently ignores a faulty file. Check it, and see that it acts:", "colltune lint {name}"),
)
#: A file of MPICH.
MPICH = (
    Step(
        "By the environment of every process. Without the other lines the device's own compositions decide first, "
        "as they go on to for collectives that the file has no rules for:",
        "{mpich}",
    ),
    Step("Then start the program as always:", "mpiexec -n 16 ./program"),
    Step(
        "MPICH stops every program whose file is not of its very version: make it anew when another version is "
        "installed."
    ),
)
#: A script for Intel MPI.
INTEL = (
    Step("Source it where the job is started; mpirun of Intel MPI hands the settings on:", ". ./{name}"),
    Step("Then start the program as always:", "mpirun -n 16 ./program"),
    Step(
        "Intel MPI repeats the variable at its start, which shows that it arrived, not that its conditions act:",
        "I_MPI_DEBUG=5 mpirun -n 16 ./program | grep I_MPI_ADJUST_{FIRST}",
    ),
    Step("What each condition does, and which never acts:", "colltune lint {name}"),
)
#: A script for UCC.
UCC = (
    Step("Source it where the job is started:", ". ./{name}"),
    Step(
        "Open MPI leaves its collectives to UCC when it is told to; what else the script sets needs an -x, too:",
        "mpirun --mca coll_ucc_enable 1 --mca coll_ucc_priority 100 -x UCC_TL_UCP_TUNE -n 16 ./program",
    ),
    Step(
        "UCC says what it takes for which sizes (1.4 and later), and in a line with ERROR when it refuses the string:",
        "mpirun -x UCC_LOG_LEVEL=debug … ./program | grep -E 'ERROR|_init'",
    ),
)
#: C source.
C_SOURCE = (
    Step("Compile it into the program; no other file is needed:", "cc -std=c99 -O2 -c {name}"),
    Step(
        "Declare and call it; it returns the position of the method in the list of names:",
        "int colltune_{first}(int comm_size, long long message_size);\n"
        "extern const char *const colltune_{first}_methods[];",
    ),
    Step(
        "Its self-test answers pairs of communicator and message size:",
        "cc -std=c99 -O2 -DCOLLTUNE_MAIN -o selftest {name}\necho 16 65536 | ./selftest",
    ),
)
#: A Python module.
PYTHON = (
    Step(
        "Import it; it needs nothing but Python:",
        "import {module}\n{module}.colltune_{first}_methods[{module}.colltune_{first}(16, 65536)]",
    ),
    Step("As a program it answers pairs of sizes:", "echo 16 65536 | python {name}"),
)
#: A Python module that runs the collectives.
PYTHON_COLLECTIVES = (
    Step(
        "Import it in a program of mpi4py, and call its functions in place of the communicator's:",
        "import {module}\n{module}.{first}(comm, …)",
    ),
    Step("Start the program as ever, where this package is installed:", "mpiexec -n 16 python PROGRAM.py"),
)
#: Saved decision functions, one or several.
SAVED = (
    Step(
        "Read it again with colltune, as all other ways of deciding:",
        "colltune compare RESULTS -c {first} --trees rules:file={name} quadtree:max_depth=3",
    ),
    Step(
        "Or in Python:",
        "from dashboard.decisions import DecisionFunction\n"
        'decisions = {{each.collective: each for each in DecisionFunction.load_all("{name}")}}\n'
        'decision = decisions["{first}"]\n'
        "decision.methods[decision.predict_one(16, 65536)].label",
    ),
)
#: Source of a library to preload under Open MPI.
PRELOAD = (
    Step("Build the library once:", BUILD),
    Step(
        "Preload it into any dynamically linked MPI program, which need not be changed:",
        "mpirun -x LD_PRELOAD=$PWD/{library} -n 16 ./program",
    ),
)
#: Source of a library to preload under MPICH.
PRELOAD_MPICH = (
    PRELOAD[0],
    Step(
        "Preload it into any dynamically linked MPI program, which need not be changed:",
        "mpiexec -genv LD_PRELOAD $PWD/{library} -n 16 ./program",
    ),
    Step(
        "Where MPI_THREAD_MULTIPLE is asked for, as mpi4py always does, and one thread alone calls collectives:",
        "mpiexec -genv LD_PRELOAD $PWD/{library} -genv COLLTUNE_ONE_THREAD 1 -n 16 ./program",
    ),
)
#: Command lines of mpirun.
MPIRUN = (
    Step("Each command line forces one method for all sizes; take that of your library:", "cat {name}"),
    Step("One method serves programs whose calls are alike; for others write a rules file."),
)
#: Two rules files of Open MPI.
OPEN_MPI_NODES = (
    Step(
        "Both files belong together; every process must be able to read them. The last line is needed where HAN's "
        "rules name adapt, which then answers MPI_Ibcast and MPI_Ireduce, too; leave it out where they do not:",
        "\n".join(
            f"export OMPI_MCA_{each}={value}" for each, value in parameters("$PWD/{name}", "$PWD/{other}").items()
        ),
    ),
    Step(
        "Open MPI silently ignores a faulty file. Check both, see that they act, and measure them, in an allocation "
        "of several nodes:",
        "\n".join(f"colltune {each} {{name}} --han {{other}}" for each in ("lint", "prove", "tune-check")),
    ),
)
