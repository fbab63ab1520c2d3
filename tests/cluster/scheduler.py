"""A real Slurm whose nodes are emulated machines: ``slurmctld`` on the head, one ``slurmd`` on each node."""

import os
import shlex
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.cluster.machines import Machine, Network, compiled

#: Commands of users, which find their way to the head; see `Slurm.commands`.
_CLIENTS = ("sbatch", "scontrol", "scancel", "squeue", "sinfo", "sacct", "srun")
_PROGRAMS = ("slurmctld", "slurmd", "munged", *_CLIENTS)
_START_S = 30.0
#: Cores that a node says it has; all of them are this machine's own.
CORES = 4

#: Everything that waits is set as short as it goes: a node that does not answer is given up after eight seconds.
_CONFIGURATION = """
ClusterName=emulated
SlurmctldHost={head}({address})
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={munge}
CredType=cred/munge
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.%n.pid
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool.%n
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
TaskProlog={prolog}
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
MpiDefault=none
SwitchType=switch/none
ReturnToService=2
SchedulerType=sched/backfill
SchedulerParameters=batch_sched_delay=0,sched_interval=1,sched_min_interval=0,bf_interval=1
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SlurmdParameters=config_overrides
SlurmdTimeout=8
MessageTimeout=4
KillWait=2
UnkillableStepTimeout=60
NodeName=node[01-{last:02d}] CPUs={cores} Sockets=1 CoresPerSocket={cores} ThreadsPerCore=1 State=UNKNOWN
PartitionName=debug Nodes=ALL Default=YES MaxTime=60 State=UP
PartitionName=closed Nodes=ALL MaxTime=60 State=DOWN
"""
#: Ranks sleep while they wait; and their own files are not those of a process of the same number on another node.
_PROLOG = """#!/bin/sh
echo "export LD_PRELOAD={block}"
echo "export TMPDIR=/run/tmp"
"""
#: What a site's module of its MPI would set here.
ENVIRONMENT = {
    "OMPI_MCA_pml": "^ucx,cm",
    "OMPI_MCA_btl": "self,sm,tcp",
    "OMPI_MCA_btl_tcp_if_include": "eth0",
    "OMPI_MCA_mpi_yield_when_idle": "1",
    "OMPI_MCA_opal_event_include": "epoll",
    "OMPI_MCA_mpi_event_tick_rate": "1",
    "PRTE_MCA_prte_if_include": "eth0",
    "PRTE_MCA_hwloc_default_binding_policy": "none",
}


def missing() -> str:
    """Which programs of Slurm are not here; empty when all are."""
    lost = [name for name in _PROGRAMS if shutil.which(name) is None]
    return f"no {', '.join(lost)} on the PATH (Debian: apt-get install slurm-wlm munge)" if lost else ""


class Slurm:
    """Slurm on the machines of a network."""

    def __init__(self, network: Network) -> None:
        self.network = network
        self._folder = network.folder / "slurm"
        #: Folder with ``sbatch`` and its like, to be put first on the PATH: each runs on the head.
        self.commands = network.folder / "bin"
        self._configuration = self._folder / "slurm.conf"
        self._munge = self._folder / "munge"
        for folder in (self._folder, self.commands, self._munge, self._folder / "state"):
            folder.mkdir()
        self._munge.chmod(0o755)
        self._write()
        self._controller: subprocess.Popen[bytes] | None = None
        self._start_munge()
        self.start_controller()
        for node in network.nodes:
            self.start_node(node)
        self.wait_for_nodes()

    def _write(self) -> None:
        head, nodes = self.network.head, self.network.nodes
        prolog = self._folder / "prolog"
        prolog.write_text(
            _PROLOG.format(block=compiled(self.network.folder, "block.c", "-shared", "-fPIC")), encoding="utf-8"
        )
        prolog.chmod(0o755)
        values = {"head": head.name, "address": head.address, "folder": self._folder, "prolog": prolog}
        values |= {"munge": self._munge / "socket", "last": len(nodes), "cores": CORES}
        self._configuration.write_text(_CONFIGURATION.format(**values).lstrip(), encoding="utf-8")
        for name in _CLIENTS:
            real = shutil.which(name)
            enter = " ".join(head.command(str(real)))
            # A job inherits the PATH, and these commands are for those outside.
            variables = f"PATH={shlex.quote(os.environ['PATH'])} SLURM_CONF={self._configuration}"
            text = f'#!/bin/sh\n{variables} exec {enter} "$@"\n'
            (self.commands / name).write_text(text, encoding="utf-8")
            (self.commands / name).chmod(0o755)

    def _start_munge(self) -> None:
        key = self._munge / "key"
        key.write_bytes(os.urandom(128))
        key.chmod(0o400)
        # A socket in the file system is seen by all machines: one is enough.
        files = {"key-file": key, "socket": self._munge / "socket", "pid-file": self._munge / "pid"}
        files |= {"log-file": self._munge / "log", "seed-file": self._munge / "seed"}
        options = [f"--{name}={path}" for name, path in files.items()]
        self.network.head.start("munged", "--foreground", "--force", *options, log=self._folder / "munged.log")
        until = time.monotonic() + _START_S
        while not files["socket"].exists() and time.monotonic() < until:
            time.sleep(0.01)

    def start_controller(self, *, forget: bool = False) -> None:
        """Start ``slurmctld``; with `forget` it knows nothing of the jobs before."""
        words = ("slurmctld", "-D", "-f", str(self._configuration), "-c" if forget else "-v")
        self._controller = self.network.head.start(*words, log=self._folder / "slurmctld.log")

    def kill_controller(self) -> None:
        """Kill ``slurmctld``, as a crash does."""
        self._kill(self.network.head, "slurmctld")
        if self._controller is not None:
            self._controller.wait(_START_S)

    def start_node(self, node: Machine) -> None:
        """Start ``slurmd`` on a node."""
        words = ("slurmd", "-D", "-f", str(self._configuration), "-N", node.name)
        node.start(*words, log=self._folder / f"{node.name}.log")

    def _kill(self, machine: Machine, program: str) -> None:
        pids = [pid for pid, words in machine.processes().items() if words.split()[0].endswith(program)]
        machine.run("kill", "-KILL", *map(str, pids))

    def wait_for_nodes(self) -> None:
        """Wait until every node is idle; one that was drained is taken back, as an administrator does."""
        until = time.monotonic() + _START_S
        wanted = str(len(self.network.nodes))
        while (idle := self.ask("sinfo", "-h", "-p", "debug", "-t", "idle", "-o", "%D").strip()) != wanted:
            if time.monotonic() > until:
                raise RuntimeError(f"{idle or 0} of {wanted} nodes are idle: {self.ask('sinfo', '-N', '-l', '-R')}")
            self.ask("scontrol", "update", "nodename=ALL", "state=resume")
            time.sleep(0.1)

    def ask(self, name: str, *words: str) -> str:
        """Run one of the users' commands; what it prints, empty when it fails."""
        done = subprocess.run([self.commands / name, *words], capture_output=True, text=True, timeout=60, check=False)
        return done.stdout


@contextmanager
def emulated(folder: Path, nodes: int, megabits: float = 1000.0, delay: float = 20.0) -> Iterator[Slurm]:
    """Give a cluster of some nodes, and switch it off afterwards."""
    network = Network(folder, nodes, megabits, delay)
    try:
        yield Slurm(network)
    finally:
        network.close()
