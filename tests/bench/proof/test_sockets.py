"""Bytes that Linux counts at a connection are those that were sent."""

import socket

from dashboard.benchmarks.proof.sockets import bytes_sent


def test_a_connection_s_bytes_are_counted_by_its_ends() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server, socket.create_connection(server.getsockname()) as client:
        accepted, _ = server.accept()
        with accepted:
            ends = (client.getsockname(), client.getpeername())
            back = (ends[1], ends[0])
            before = bytes_sent()
            client.sendall(b"x" * 12_345)
            accepted.sendall(b"yy")
            after = bytes_sent()
    assert after[ends] - before[ends] == 12_345
    assert after[back] - before[back] == 2


def test_other_files_and_sockets_are_passed_over(tmp_path: object) -> None:
    with socket.socket(socket.AF_UNIX), socket.socket(socket.AF_INET, socket.SOCK_DGRAM), socket.create_server(("", 0)):
        assert isinstance(bytes_sent(), dict)
