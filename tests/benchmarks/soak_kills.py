"""Kill parts of running campaigns at random moments: nothing may be lost, and no point measured twice.

Run from the checkout, with an Open MPI in the environment; with ``--slurm`` on an emulated cluster, as root::

    python -m tests.benchmarks.soak_kills --kills 20 --seed 1 python -m tests.benchmarks.soak_kills --kills 20 --slurm

Victims are, in turn, a rank, the start command, the supervisor and whatever launched the job; on Slurm also its
controller. Every other kill comes in the first seconds, the others while points are measured.
"""

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

from dashboard.benchmarks.campaigns import control
from dashboard.benchmarks.campaigns.campaign import ENDED, Campaign, key_of
from dashboard.benchmarks.campaigns.protocol import Protocol
from dashboard.benchmarks.campaigns.wish import Wish, make_plan
from dashboard.benchmarks.launchers import processes
from dashboard.benchmarks.launchers.launch import Launcher
from dashboard.benchmarks.launchers.local import LocalLauncher
from dashboard.benchmarks.launchers.slurm import SlurmLauncher
from dashboard.benchmarks.libraries import library
from dashboard.benchmarks.libraries.library import Installation
from tests.cluster import scheduler
from tests.cluster.conftest import asked

VICTIMS = ("worker", "mpiexec", "supervisor", "launcher")
_LIMIT_S = 300.0
_PATIENCE_S = 60.0
_SOON_S, _LATER_S = 3.0, 1.0
#: A controller that was killed before it saved its state starts a job anew; its node refuses that and is drained then.
_SETTLED_S = 8.0
_LAUNCH = "import sys; from tests.benchmarks import soak_kills; soak_kills.launch(*sys.argv[1:])"


@dataclass
class Soak:
    """A campaign that is killed again and again."""

    #: What is started, where and by which MPI.
    campaign: Campaign
    launcher: Launcher
    installation: Installation
    #: Of the moments.
    random: random.Random
    #: The emulated cluster, if the campaign runs on one.
    cluster: scheduler.Slurm | None = None
    #: Kills by victim that hit a running process.
    counted: Counter[str] = field(default_factory=Counter)

    def kill(self, victim: str, *, late: bool) -> None:
        """Start what is missing, kill, and wait until the job has ended."""
        if len(self.campaign.done().all) >= control.status(self.campaign)["points"]:
            # A quick machine has measured all of it between two kills.
            return
        if victim == "launcher":
            self._kill_launcher()
        else:
            measured = len(self.campaign.done().all)
            control.start(self.campaign, self.launcher, self.installation, _LIMIT_S)
            if late:
                self._until(lambda: len(self.campaign.done().all) > measured or self._state() in ENDED)
            time.sleep(self.random.uniform(0, _LATER_S if late else _SOON_S))
            before = self.pids("mpiexec")
            self._strike(victim)
            # What was taken down may be started again at once, to go on with what is left.
            self._until(lambda: self._state() in ENDED or bool({*self.pids("mpiexec")} - {*before}))
            if self._state() not in ENDED:
                control.cancel(self.campaign)
        self._until(lambda: self._state() in (*ENDED, "planned"))
        if self.cluster is not None:
            # Without cgroups Slurm loses sight of ranks whose first process was killed; they end by themselves.
            self._until(lambda: not self._left())
            self.cluster.ask("scontrol", "update", "nodename=ALL", "state=resume")
        assert not self._left(), f"{victim}: processes {self._left()} are left"
        check(self.campaign)

    def _kill_launcher(self) -> None:
        """Kill the process that launches, at any moment of that; its job goes on, or never began."""
        record = json.dumps(self.launcher.record())
        command = [sys.executable, "-c", _LAUNCH, str(self.campaign.folder), record, str(_LIMIT_S)]
        starting = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True)
        assert starting.stdout is not None
        with starting, starting.stdout as ready:
            ready.readline()
            time.sleep(self.random.uniform(0, _LATER_S))
            starting.kill()
        self.counted["launcher"] += 1
        if self._state() != "planned":
            control.cancel(self.campaign)

    def _strike(self, victim: str) -> None:
        if victim == "controller":
            assert self.cluster is not None
            self.cluster.kill_controller()
            time.sleep(self.random.uniform(0, _SOON_S))
            self.cluster.start_controller()
            self.counted[victim] += 1
            self._until(lambda: "Slurm does not answer" not in self._reason())
            time.sleep(_SETTLED_S)
            self._strike("mpiexec")
        elif pids := self.pids(victim):
            processes.send(pids[:1], signal.SIGKILL)
            self.counted[victim] += 1
        else:
            control.cancel(self.campaign)

    def pids(self, victim: str) -> list[int]:
        """Processes of a kind that belong to this campaign."""
        pids = []
        for entry in Path("/proc").iterdir():
            try:
                words = (entry / "cmdline").read_bytes().decode("utf-8", errors="replace").split("\0")
            except OSError:
                continue
            if not entry.name.isdecimal() or not any(str(self.campaign.folder) in word for word in words):
                continue
            kind = (
                "supervisor"
                if "dashboard.benchmarks.launchers.supervise" in words
                else "mpiexec"
                if "-n" in words
                else "worker"
            )
            pids += [int(entry.name)] if kind == victim and int(entry.name) != os.getpid() else []
        return sorted(pids)

    def _left(self) -> list[int]:
        orders = [path.stem for path in (self.campaign.folder / "jobs").glob("*.json") if "-" not in path.stem]
        return [pid for mark in orders for pid in processes.marked(mark)]

    def _state(self) -> str:
        return str(control.status(self.campaign)["state"])

    def _reason(self) -> str:
        return str(control.status(self.campaign)["reason"])

    def _until(self, what: Callable[[], bool]) -> None:
        end = time.monotonic() + _PATIENCE_S
        while not what():
            assert time.monotonic() < end, f"waited in vain: {control.status(self.campaign)}"
            time.sleep(0.01)

    def finish(self) -> None:
        """Measure what is missing, undisturbed; all must be there, each point once."""
        now = control.status(self.campaign)
        # A quick machine may have measured all of it between two kills.
        if now["measured"] < now["points"]:
            control.start(self.campaign, self.launcher, self.installation, _LIMIT_S)
            now = control.wait(self.campaign, None, 0.1)
            assert now["state"] == "finished", (now, self.campaign.tail())
        assert now["measured"] == now["points"], (now, self.campaign.done().refused)
        check(self.campaign)


def launch(folder: str, record: str, seconds: str) -> None:
    """Start a campaign in a process that is to be killed meanwhile."""
    launcher = json.loads(record)
    kind = SlurmLauncher if launcher["name"] == "slurm" else LocalLauncher
    campaign, installation = Campaign(Path(folder)), library.find()
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    control.start(campaign, kind.from_record(launcher), installation, float(seconds))
    signal.pause()


def check(campaign: Campaign) -> None:
    """No point stands twice in the results, but where it was measured again since its time could not be right."""
    counts: Counter[object] = Counter()
    for path in campaign.result_files():
        for line in path.read_text(encoding="utf-8").splitlines():
            try:
                record = json.loads(line)
                if "again" not in record:
                    counts[key_of(record)] += 1
            except (ValueError, KeyError, TypeError):
                continue
    assert not (twice := [key for key, count in counts.items() if count > 1]), twice


def quick_campaign(folder: Path, installation: Installation, sizes: int) -> Campaign:
    """Points that are measured in a moment each: four methods or more for so many message sizes."""
    wish = Wish(
        ranks=2,
        collectives=("bcast",),
        comm_sizes=(2,),
        message_sizes=tuple(range(8, 8 * sizes + 8, 8)),
        algorithms=("default", "basic_linear", "binomial", "knomial"),
        protocol=Protocol(min_repetitions=2, max_repetitions=3, rounds=1, warm_up=0, seconds=1.0),
        graphs=False,
    )
    return Campaign.create(folder, make_plan(wish, installation))


def main() -> None:
    """Kill as often as asked, and say what was hit."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--points", type=int, default=1000, help="so many that some are left to the last kill")
    parser.add_argument("--slurm", action="store_true", help="on an emulated cluster, as root")
    args = parser.parse_args()
    installation = library.find()
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        launcher: Launcher = LocalLauncher((str(installation.mpiexec),))
        cluster, victims = None, VICTIMS
        if args.slurm:
            (folder / "cluster").mkdir()
            cluster = stack.enter_context(scheduler.emulated(folder / "cluster", 2))
            os.environ["PATH"] = f"{cluster.commands}{os.pathsep}{os.environ['PATH']}"
            launcher, victims = SlurmLauncher(asked(2), str(installation.mpiexec)), (*VICTIMS, "controller")
        begin = time.monotonic()
        campaign = quick_campaign(folder / "campaign", installation, args.points // 4)
        soak = Soak(campaign, launcher, installation, random.Random(args.seed), cluster)
        for number in range(args.kills):
            if campaign.done().all == set(campaign.plan().points()):
                print(f"all was measured before the last kills (--points, now {args.points}, was too small)")
                return
            soak.kill(victims[number % len(victims)], late=bool(number // len(victims) % 2))
            print(f"{number + 1}: {victims[number % len(victims)]}, {len(campaign.done().measured)} points measured")
        soak.finish()
        points = len(campaign.done().measured)
        print(f"{dict(soak.counted)} killed in {time.monotonic() - begin:.0f} s: {points} points, each once, none lost")


if __name__ == "__main__":
    main()
