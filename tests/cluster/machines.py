"""Emulated machines on this one: each has processes, a host name, mounts and a network card of its own.

A machine is a set of Linux namespaces held by its first process. Ending that process ends, by the kernel, everything
that runs on the machine, as a power cut does; and it ends with the test run, however that ends. So nothing needs to be
cleaned up, and nothing is left after a crash. All machines see the same files but /run and /dev/shm, and their cards
are the ports of ``switch.c``, which gives the network its rate and its delay.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import shutil
import signal
import subprocess
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
HEAD = "head"
_NETWORK = "10.77.0"
_PATIENCE_S = 20.0
_PR_SET_PDEATHSIG = 1
_TOOLS = ("unshare", "nsenter", "mount", "ip", "ps", "sysctl", "gcc")
_SPACES = ("--mount", "--uts", "--net", "--pid")
#: Run by a machine's first process, which then only waits: for its own child, and for those that lost their parent.
_BOOT = """
hostname "$1" && mount --bind "$2" /etc/hosts && mount -t tmpfs shm /dev/shm && mount -t tmpfs run /run &&
mkdir -m 1777 /run/tmp && ip link set lo up && echo up || exit 1
sleep infinity & wait
"""

#: Ways to reach a machine of the network from outside of all: what mpiexec would use ssh for.
_AGENT = """#!/bin/sh
while [ "${{1#-}}" != "$1" ]; do shift; done
host=$1; shift
case $host in
{cases}
*) echo "no machine $host" >&2; exit 255 ;;
esac
exec nsenter --target $pid --mount --uts --net --pid -- sh -c "$*"
"""


def missing() -> str:
    """Why machines cannot be emulated here; empty when they can."""
    if os.uname().sysname != "Linux" or os.geteuid() != 0:
        return "emulated machines need Linux and root"
    if lost := [name for name in _TOOLS if shutil.which(name) is None]:
        return f"no {', '.join(lost)} on the PATH (Debian: apt-get install gcc libc6-dev iproute2 procps)"
    if not Path("/dev/net/tun").exists():
        return "no /dev/net/tun: this system lends no network cards to programs"
    tried = subprocess.run(
        ["unshare", *_SPACES, "--fork", "--mount-proc", "mount", "-t", "tmpfs", "run", "/run"],
        capture_output=True,
        text=True,
        check=False,
    )
    return f"this system gives no namespaces of its own: {tried.stderr.strip()}" if tried.returncode else ""


def compiled(folder: Path, source: str, *options: str) -> Path:
    """Compile a C file of this folder."""
    made = folder / source.removesuffix(".c")
    command = ["gcc", "-O2", "-Wall", "-Werror", *options, "-o", str(made), str(HERE / source), "-ldl"]
    subprocess.run(command, check=True, timeout=60)
    return made


def _with_parent() -> None:
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


@dataclass
class Machine:
    """One emulated machine."""

    #: Its host name and its address in the network.
    name: str
    address: str
    #: Id, as seen from outside, of the process that holds it.
    first: int
    _holder: subprocess.Popen[str] = field(repr=False)
    _started: list[subprocess.Popen[bytes]] = field(default_factory=list, repr=False)

    @classmethod
    def boot(cls, name: str, address: str, hosts: Path) -> Machine:
        """Switch a machine on."""
        command = ["unshare", *_SPACES, "--fork", "--kill-child", "--mount-proc", "sh", "-c", _BOOT, "sh", name]
        holder = subprocess.Popen(
            [*command, str(hosts)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            preexec_fn=_with_parent,  # noqa: PLW1509 - the test run has one thread when it does this
        )
        assert holder.stdout is not None
        if holder.stdout.readline() != "up\n":
            raise RuntimeError(f"{name} did not come up")
        children = Path(f"/proc/{holder.pid}/task/{holder.pid}/children").read_text(encoding="utf-8")
        return cls(name, address, int(children.split()[0]), holder)

    def command(self, *words: str) -> list[str]:
        """Argument list that runs a command on this machine."""
        return ["nsenter", "--target", str(self.first), *_SPACES, "--", *words]

    def run(self, *words: str, **options: Any) -> str:
        """Run a command here to its end and return what it printed."""
        done = subprocess.run(self.command(*words), capture_output=True, text=True, timeout=60, check=False, **options)
        if done.returncode:
            raise RuntimeError(f"{self.name}: {' '.join(words)} gave {done.returncode}: {done.stderr.strip()}")
        return done.stdout

    def start(self, *words: str, log: Path) -> subprocess.Popen[bytes]:
        """Start a command that stays."""
        with log.open("ab") as stream:
            options: dict[str, Any] = {"stdin": subprocess.DEVNULL, "stdout": stream, "stderr": subprocess.STDOUT}
            self._started.append(subprocess.Popen(self.command(*words), **options, start_new_session=True))
        return self._started[-1]

    def processes(self) -> dict[int, str]:
        """Commands that run here, by their ids as this machine sees them."""
        lines = self.run("ps", "-eo", "pid=,args=").splitlines()
        return {int(pid): words for pid, words in (line.split(None, 1) for line in lines)}

    def unplug(self) -> None:
        """Take the network card down: what is sent is lost, and nobody is told."""
        self.run("ip", "link", "set", "eth0", "down")

    def plug(self, neighbours: Path) -> None:
        """Bring the network card up."""
        self.run("ip", "link", "set", "eth0", "txqueuelen", "1000", "up")
        self.run("ip", "-batch", str(neighbours))

    def power_off(self) -> None:
        """End everything that runs here, at once."""
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.first, signal.SIGKILL)
        for process in (self._holder, *self._started):
            process.wait(_PATIENCE_S)
        if self._holder.stdout is not None:
            self._holder.stdout.close()


class Network:
    """A head and some nodes behind one switch: Mbit/s of a node's wire (the head's has no limit), µs between nodes."""

    def __init__(self, folder: Path, nodes: int, megabits: float = 1000.0, delay: float = 20.0) -> None:
        self.folder = folder
        names = {HEAD: f"{_NETWORK}.1"} | {f"node{n:02d}": f"{_NETWORK}.{10 + n}" for n in range(1, nodes + 1)}
        self._hosts, self.neighbours = folder / "hosts", folder / "neighbours"
        lines = ["127.0.0.1 localhost", *(f"{address} {name}" for name, address in names.items())]
        self._hosts.write_text("\n".join(lines) + "\n", encoding="utf-8")
        entries = (f"neigh replace {at} lladdr 02:00:00:00:00:{n:02x} dev eth0" for n, at in enumerate(names.values()))
        self.neighbours.write_text("\n".join(entries) + "\n", encoding="utf-8")
        self._machines: dict[str, Machine] = {}
        self._switch: subprocess.Popen[bytes] | None = None
        try:
            for name, address in names.items():
                self._machines[name] = Machine.boot(name, address, self._hosts)
            self._connect(megabits, delay)
        except BaseException:
            self.close()
            raise

    def _connect(self, megabits: float, delay: float) -> None:
        program = compiled(self.folder, "switch.c")
        log = self.folder / "switch.log"
        spaces = [f"/proc/{machine.first}/ns/net" for machine in self._machines.values()]
        with log.open("wb") as stream:
            command = [str(program), f"{megabits:g}", f"{delay:g}", *spaces]
            self._switch = subprocess.Popen(command, stdout=stream, stderr=stream, preexec_fn=_with_parent)  # noqa: PLW1509
        until = time.monotonic() + _PATIENCE_S
        while b"ready" not in log.read_bytes():
            if self._switch.poll() is not None or time.monotonic() > until:
                raise RuntimeError(f"the switch does not run: {log.read_text(encoding='utf-8')}")
            time.sleep(0.01)
        for machine in self._machines.values():
            machine.run("ip", "addr", "add", f"{machine.address}/24", "dev", "eth0")
            quiet = ("ipv6.conf.all.disable_ipv6=1", "ipv4.tcp_congestion_control=reno", "ipv4.tcp_no_metrics_save=1")
            machine.run("sysctl", "-q", *(f"net.{name}" for name in quiet), "net.ipv4.tcp_slow_start_after_idle=0")
            machine.plug(self.neighbours)

    @property
    def head(self) -> Machine:
        """The machine that users log in to."""
        return self._machines[HEAD]

    @property
    def nodes(self) -> list[Machine]:
        """The machines that compute."""
        return [machine for name, machine in self._machines.items() if name != HEAD]

    def close(self) -> None:
        """Switch everything off."""
        for machine in self._machines.values():
            machine.power_off()
        if self._switch is not None:
            self._switch.kill()
            self._switch.wait(_PATIENCE_S)


def template(network: Network, mpiexec: Path, folder: Path) -> tuple[str, ...]:
    """A start command that reaches the machines by an agent in the place of ssh, from the head's network."""
    agent = folder / "agent"
    cases = (f"{node.name}|{node.address}) pid={node.first} ;;" for node in network.nodes)
    agent.write_text(_AGENT.format(cases="\n".join(cases)), encoding="utf-8")
    agent.chmod(0o755)
    hosts = ",".join(f"{node.address}:2" for node in network.nodes)
    words = f"nsenter --target {network.head.first} --net --uts -- {mpiexec} --prtemca plm ssh"
    words += f" --prtemca plm_ssh_agent {agent} --host {hosts} -n {{ranks}} --map-by ppr:{{ppn}}:node --bind-to none"
    return tuple(words.split())
