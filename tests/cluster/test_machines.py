"""The emulated machines themselves: what the wires let through, and that nothing stays when they are gone."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from dashboard.benchmarks.launchers import processes
from tests.cluster import machines
from tests.conftest import ROOT, need, until

MEGABITS, DELAY_US = 100.0, 500.0
#: Answers each message with one byte; tells the shortest time of an answer to one byte and to a megabyte.
_PING_PONG = """
import socket, sys, time
if sys.argv[1] == "listen":
    with socket.create_server(("", 5000)) as server:
        print("ready", flush=True)
        with server.accept()[0] as peer:
            peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            while head := peer.recv(8):
                left = int.from_bytes(head, "big")
                while left:
                    left -= len(peer.recv(left))
                peer.sendall(b"x")
else:
    with socket.create_connection((sys.argv[1], 5000)) as peer:
        peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for size in (1, 1_000_000):
            times = []
            for _ in range(8):
                begin = time.perf_counter()
                peer.sendall(size.to_bytes(8, "big") + bytes(size))
                peer.recv(1)
                times.append(time.perf_counter() - begin)
            print(min(times))
"""


@pytest.fixture(scope="module")
def network(tmp_path_factory: pytest.TempPathFactory) -> Iterator[machines.Network]:
    need(not (why := machines.missing()), why)
    network = machines.Network(tmp_path_factory.mktemp("network"), 2, MEGABITS, DELAY_US)
    yield network
    network.close()


def ping_pong(network: machines.Network, here: machines.Machine, there: machines.Machine) -> list[float]:
    log = network.folder / "ping-pong"
    log.unlink(missing_ok=True)
    listening = there.start(sys.executable, "-c", _PING_PONG, "listen", log=log)
    until(lambda: log.read_text(encoding="utf-8"))
    output = here.run(sys.executable, "-c", _PING_PONG, there.address)
    listening.wait(10)
    return [float(line) for line in output.split()]


def test_wires_have_their_delay_and_their_rate(network: machines.Network) -> None:
    short, long = ping_pong(network, *network.nodes)
    assert 2 * DELAY_US * 1e-6 < short < 20 * DELAY_US * 1e-6
    # 1448 bytes travel in a frame of 1538.
    wire = 8e6 * 1538 / 1448 / (MEGABITS * 1e6)
    assert wire < long < 3 * wire


def test_the_head_has_no_limit_of_its_own(network: machines.Network) -> None:
    # The receiver's wire alone: the sender's rate is not added to it.
    _, long = ping_pong(network, network.head, network.nodes[0])
    assert long < 3 * 8e6 * 1538 / 1448 / (MEGABITS * 1e6)


def test_machines_see_neither_the_processes_nor_the_network_of_others(network: machines.Network) -> None:
    first, second = network.nodes
    assert first.run("hostname").strip() == "node01"
    assert len(first.processes()) < 6
    assert first.processes()[1].startswith("sh -c")
    assert second.run("ip", "-o", "-4", "addr", "show", "eth0").split()[3] == "10.77.0.12/24"


def test_killed_nothing_of_it_stays(tmp_path: Path) -> None:
    need(not (why := machines.missing()), why)
    program = (
        "import sys, signal, pathlib; from tests.cluster import machines\n"
        "network = machines.Network(pathlib.Path(sys.argv[1]), 1)\n"
        "network.nodes[0].start('sh', '-c', 'sleep 1000 & sleep 1000', log=pathlib.Path(sys.argv[1]) / 'log')\n"
        "print('up', flush=True); signal.pause()"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "COLLTUNE_JOB": tmp_path.name}
    with subprocess.Popen(
        [sys.executable, "-c", program, str(tmp_path)], env=environment, stdout=subprocess.PIPE, start_new_session=True
    ) as running:
        assert running.stdout is not None
        running.stdout.readline()
        assert len(until(lambda: len(pids := processes.marked(tmp_path.name)) > 6 and pids)) > 6
        running.send_signal(signal.SIGKILL)
    until(lambda: not processes.marked(tmp_path.name), lambda: processes.marked(tmp_path.name))
