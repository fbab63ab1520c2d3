"""Plays mpiexec for the launcher's tests: ``fake_mpiexec.py -n N CODE FOLDER``.

Starts N processes that each write their id into FOLDER; with CODE "stay" they stay, with "deaf" they do not hear
SIGTERM either; else they end, and this ends with CODE. A variable CODE comes before the argument.
"""

import os
import signal
import sys
from pathlib import Path

_, _, number, code, folder = sys.argv
code = os.environ.get("CODE", code)
children = []
for _rank in range(int(number)):
    child = os.fork()
    if child == 0:
        if code == "deaf":
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
        (Path(folder) / f"rank-{os.getpid()}").touch()
        while code in ("stay", "deaf"):
            signal.pause()
        os._exit(0)
    children.append(child)
for child in children:
    os.waitpid(child, 0)
sys.stdout.write("the ranks have ended\n")
sys.exit(int(code))
