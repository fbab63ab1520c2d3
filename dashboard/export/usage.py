"""How each exported file is put to use: environment variables, command lines, build lines."""

from __future__ import annotations

from collections.abc import Sequence

from dashboard.export.components import parameters
from dashboard.export.target import Step

#: Makes a library to preload of its source.
BUILD = "mpicc -std=c99 -O2 -shared -fPIC -pthread -o {library} {source}"


def used_in_text(steps: Sequence[Step]) -> str:
    """The steps as plain text, commands indented."""
    parts = []
    for step in steps:
        command = "".join(f"    {line}\n" for line in step.command.splitlines())
        parts.append(f"{step.words}\n{command}")
    return "\n".join(parts)


def open_mpi(name: str, _collectives: Sequence[str]) -> list[Step]:
    """A rules file of Open MPI."""
    return [
        Step(
            "On the command line of mpirun; every process must be able to read the file:",
            "mpirun --mca coll_tuned_use_dynamic_rules 1 \\\n"
            f"       --mca coll_tuned_dynamic_rules_filename $PWD/{name} -n 16 ./program",
        ),
        Step(
            "Or by the environment, such as in a job script under srun:",
            "export OMPI_MCA_coll_tuned_use_dynamic_rules=1\n"
            f"export OMPI_MCA_coll_tuned_dynamic_rules_filename=$PWD/{name}",
        ),
        Step(
            "Across nodes the component han is asked first and would decide; switch it off:",
            "export OMPI_MCA_coll=^han",
        ),
        Step(
            "Open MPI drops a file with a fault without a word. Check it, and see that it acts:",
            f"colltune lint {name}",
        ),
    ]


#: Names the selection to an MPICH; empty: its own.
MPICH_FILE = "MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE"


def mpich_parameters(name: str) -> dict[str, str]:
    """Environment variables with which a selection acts, by the name of its file."""
    return {MPICH_FILE: name, "MPIR_CVAR_DEVICE_COLLECTIVES": "none"}


def mpich(name: str, _collectives: Sequence[str]) -> list[Step]:
    """A file of MPICH."""
    return [
        Step(
            "By the environment of every process. Without the second line the device's own compositions decide first:",
            "\n".join(f"export {each}={value}" for each, value in mpich_parameters(f"$PWD/{name}").items()),
        ),
        Step("Then start the program as always:", "mpiexec -n 16 ./program"),
        Step(
            "MPICH stops every program whose file is not of its very version: make it anew when another version is "
            "installed."
        ),
    ]


def intel(name: str, collectives: Sequence[str]) -> list[Step]:
    """A script for Intel MPI."""
    first = (list(collectives) or ["bcast"])[0].upper()
    return [
        Step("Source it where the job is started; mpirun of Intel MPI hands the settings on:", f". ./{name}"),
        Step("Then start the program as always:", "mpirun -n 16 ./program"),
        Step(
            "Intel MPI repeats the variable at its start, which shows that it arrived, not that its conditions act:",
            f"I_MPI_DEBUG=5 mpirun -n 16 ./program | grep I_MPI_ADJUST_{first}",
        ),
        Step("What each condition does, and which never acts:", f"colltune lint {name}"),
    ]


def ucc(name: str, _collectives: Sequence[str]) -> list[Step]:
    """A script for UCC."""
    return [
        Step("Source it where the job is started:", f". ./{name}"),
        Step(
            "Open MPI leaves its collectives to UCC when it is told to; what else the script sets needs an -x, too:",
            "mpirun --mca coll_ucc_enable 1 --mca coll_ucc_priority 100 -x UCC_TL_UCP_TUNE -n 16 ./program",
        ),
        Step("UCC says what it takes:", "UCC_COLL_TRACE=info UCC_LOG_LEVEL=info mpirun … ./program"),
    ]


def c_source(name: str, collectives: Sequence[str]) -> list[Step]:
    """C source."""
    first = (list(collectives) or ["bcast"])[0]
    return [
        Step(
            "Compile it into the program; no other file is needed:",
            f"cc -std=c99 -O2 -c {name}",
        ),
        Step(
            "Declare and call it; it returns the position of the method in the list of names:",
            f"int colltune_{first}(int comm_size, long long message_size);\n"
            f"extern const char *const colltune_{first}_methods[];",
        ),
        Step(
            "Its self-test answers pairs of communicator and message size:",
            f"cc -std=c99 -O2 -DCOLLTUNE_MAIN -o selftest {name}\necho 16 65536 | ./selftest",
        ),
    ]


def python(name: str, collectives: Sequence[str]) -> list[Step]:
    """A Python module."""
    first = (list(collectives) or ["bcast"])[0]
    module = name.removesuffix(".py")
    call = f"{module}.colltune_{first}"
    return [
        Step("Import it; it needs nothing but Python:", f"import {module}\n{call}_methods[{call}(16, 65536)]"),
        Step("As a program it answers pairs of sizes:", f"echo 16 65536 | python {name}"),
    ]


def python_collectives(name: str, collectives: Sequence[str]) -> list[Step]:
    """A Python module that runs the collectives."""
    first = (list(collectives) or ["bcast"])[0]
    module = name.removesuffix(".py")
    return [
        Step(
            "Import it in a program of mpi4py, and call its functions in place of the communicator's:",
            f"import {module}\n{module}.{first}(comm, …)",
        ),
        Step("Start the program as ever, where this package is installed:", "mpiexec -n 16 python PROGRAM.py"),
    ]


def saved(name: str, collectives: Sequence[str]) -> list[Step]:
    """Saved decision functions, one or several."""
    first = (list(collectives) or ["bcast"])[0]
    return [
        Step(
            "Read it again with colltune, as all other ways of deciding:",
            f"colltune compare RESULTS -c {first} --trees rules:file={name} quadtree:max_depth=3",
        ),
        Step(
            "Or in Python:",
            "from dashboard.decisions import DecisionFunction\n"
            f'decisions = {{each.collective: each for each in DecisionFunction.load_all("{name}")}}\n'
            f'decision = decisions["{first}"]\n'
            "decision.methods[decision.predict_one(16, 65536)].label",
        ),
    ]


def preload(name: str, _collectives: Sequence[str]) -> list[Step]:
    """Source of a library to preload under Open MPI."""
    library = "lib" + name.removesuffix(".c") + ".so"
    return [
        Step("Build the library once:", BUILD.format(library=library, source=name)),
        Step(
            "Preload it into any dynamically linked MPI program, which need not be changed:",
            f"mpirun -x LD_PRELOAD=$PWD/{library} -n 16 ./program",
        ),
    ]


def preload_mpich(name: str, collectives: Sequence[str]) -> list[Step]:
    """Source of a library to preload under MPICH."""
    library = "lib" + name.removesuffix(".c") + ".so"
    return [
        *preload(name, collectives)[:1],
        Step(
            "Preload it into any dynamically linked MPI program, which need not be changed:",
            f"mpiexec -genv LD_PRELOAD $PWD/{library} -n 16 ./program",
        ),
        Step(
            "Where MPI_THREAD_MULTIPLE is asked for, as mpi4py always does, and one thread alone calls collectives:",
            f"mpiexec -genv LD_PRELOAD $PWD/{library} -genv COLLTUNE_ONE_THREAD 1 -n 16 ./program",
        ),
    ]


def mpirun(name: str, _collectives: Sequence[str]) -> list[Step]:
    """Command lines of mpirun."""
    return [
        Step("Each command line forces one method for all sizes; take that of your library:", f"cat {name}"),
        Step("One method serves programs whose calls are alike; for others write a rules file."),
    ]


def han_name(name: str) -> str:
    """Name of the file of HAN's rules that stands beside one of tuned's."""
    stem, dot, ending = name.rpartition(".")
    return f"{stem}-han{dot}{ending}" if stem and "/" not in ending else f"{name}-han"


def open_mpi_nodes(name: str, _collectives: Sequence[str]) -> list[Step]:
    """Two rules files of Open MPI."""
    other = han_name(name)
    variables = parameters(f"$PWD/{name}", f"$PWD/{other}")
    return [
        Step(
            "Both files belong together; every process must be able to read them. The last line is needed where HAN's "
            "rules name adapt, which then answers MPI_Ibcast and MPI_Ireduce, too; leave it out where they do not:",
            "\n".join(f"export OMPI_MCA_{each}={value}" for each, value in variables.items()),
        ),
        Step(
            "Open MPI drops a file with a fault without a word. Check both, see that they act, and measure them, in an "
            "allocation of several nodes:",
            "\n".join(f"colltune {each} {name} --han {other}" for each in ("lint", "prove", "tune-check")),
        ),
    ]
