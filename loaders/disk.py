"""Files as everything here reads and writes them: looked at before they are read, whole before they are seen.

What is read has been looked at first: a device has no end, a pipe may never begin, and a file of gigabytes is no table
of rules. What is written stands under a name of its own until all of it is on disk, so that a full disk leaves what
was there before.
"""

import errno
import fcntl
import io
import json
import os
import secrets
import shutil
import stat
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TextIO

#: Most bytes of a file that is read as a whole.
MOST_BYTES = 64 << 20
_TAIL_BYTES = 1 << 20
#: What is no text within a line of a log.
_NO_TEXT = str.maketrans(dict.fromkeys((*range(9), *range(10, 32), 127), "\ufffd"))
#: Times that a folder is removed in which something may still be written, and seconds between them.
_TRIES, _WAIT_S = 5, 0.05
_NO_LOCKS = frozenset({errno.ENOSYS, errno.ENOLCK, errno.EOPNOTSUPP})
_NO_FILE = "is neither a file nor a folder; save what comes from a pipe in a file first"


def opened(path: str | os.PathLike[str]) -> io.BufferedReader:
    """Open a file to be read.

    Raises
    ------
    OSError
        There is none, it may not be read, or it is a pipe, a device or a socket.
    """
    if not stat.S_ISREG(kind := os.stat(path).st_mode) and not stat.S_ISDIR(kind):  # noqa: PTH116 - any path
        raise OSError(errno.EINVAL, _NO_FILE, os.fspath(path))
    return Path(path).open("rb")


def read_bytes(path: str | os.PathLike[str], most: int = MOST_BYTES) -> bytes:
    """Read a whole file.

    Parameters
    ----------
    most
        Bytes it may have.

    Raises
    ------
    OSError
        As `opened`, or it has more bytes; ``strerror`` says it.
    """
    with opened(path) as stream:
        size = os.fstat(stream.fileno()).st_size
        if size <= most:
            # A file may grow meanwhile, and some of the system's own tell no size.
            content = stream.read(most + 1)
            if len(content) <= most:
                return content
    extent = f"has {size:,} bytes" if size > most else "has no end"
    raise OSError(errno.EFBIG, f"{extent}; at most {most:,} bytes are read", os.fspath(path))


def read_text(
    path: str | os.PathLike[str], most: int = MOST_BYTES, *, encoding: str = "utf-8", errors: str = "strict"
) -> str:
    """Read a whole text file, each line's end as one character; `OSError` as `read_bytes`, or UnicodeDecodeError."""
    return read_bytes(path, most).decode(encoding, errors).replace("\r\n", "\n").replace("\r", "\n")


def size(path: str | os.PathLike[str]) -> int:
    """Bytes of a file; 0 where there is none."""
    try:
        return Path(path).stat().st_size
    except OSError:
        return 0


def tail(path: str | os.PathLike[str], lines: int, since: int = 0) -> list[str]:
    """Last lines of a log after so many bytes, of its last MiB, as text; empty where it cannot be read."""
    try:
        with opened(path) as stream:
            stream.seek(max(since, os.fstat(stream.fileno()).st_size - _TAIL_BYTES))
            last = stream.read(_TAIL_BYTES).decode("utf-8", errors="replace").splitlines()[-lines:]
            return [line.translate(_NO_TEXT) for line in last]
    except OSError:
        return []


def appended(path: str | os.PathLike[str]) -> io.BufferedWriter:
    """Open a log to write on; `OSError` as `opened`, since who opens a pipe to write waits for who reads it."""
    if Path(path).exists():
        opened(path).close()
    return Path(path).open("ab")


def json_of(text: str | bytes) -> Any:
    """Data that JSON text stands for.

    Raises
    ------
    ValueError
        It is none, or nested too deeply.
    """
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError("is nested too deeply") from None


def records(lines: Iterable[str | bytes]) -> Iterator[dict[str, Any]]:
    """JSON objects of lines; a line that is none, such as one that a crash cut off, is passed over."""
    for line in lines:
        with suppress(ValueError):
            if isinstance(record := json_of(line), dict):
                yield record


def read_lines(path: str | os.PathLike[str]) -> Iterator[bytes]:
    """Lines of a file one after the other; none where there is no file. Other errors are as of `opened`."""
    with suppress(FileNotFoundError), opened(path) as stream:
        yield from stream


def read_json(path: str | os.PathLike[str]) -> Any:
    """Read a whole file of JSON; `OSError` as `read_bytes`, `ValueError` as `json_of`."""
    return json_of(read_text(path))


@contextmanager
def aside(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Give a name beside `path` to write a file or folder to, which takes its place when all has gone well.

    A link stays one: what it leads to is replaced. A new file gets the permissions that the process gives to files,
    one in the place of another keeps the other's, and its group; where it cannot have that, no group's. A device or a
    pipe is written to as it is. No file takes the place of a folder.

    Raises
    ------
    OSError
        It cannot be written, and names `path`; what was there is as it was.
    """
    target = Path(os.path.realpath(path))
    if target.exists() and not target.is_file() and not target.is_dir():
        yield target
        return
    partial = target.with_name(f".{secrets.token_hex(8)}.partial")
    try:
        yield partial
        _put(partial, target)
    except BaseException as error:
        if isinstance(error, OSError) and error.filename in (None, os.fspath(partial)):
            error.filename = os.fspath(path)
        # Threads that write a store may still be at it when one of them has failed.
        for _ in range(_TRIES if partial.is_dir() else 0):
            with suppress(OSError):
                remove(partial)
            time.sleep(_WAIT_S)
        raise
    finally:
        # Where it could not be written it may not be looked for either; the first error is the one to tell.
        with suppress(OSError):
            remove(partial)


@contextmanager
def made(folder: Path, *, new: bool = False) -> Iterator[None]:
    """Make a folder with those above it; where what is then done fails, those of them that are empty go again.

    Raises
    ------
    OSError
        It cannot be made, or is there already, though it was to be `new`.
    """
    missing = [each for each in (folder, *folder.parents) if not each.exists()]
    folder.mkdir(parents=True, exist_ok=not new)
    try:
        yield
    except BaseException:
        with suppress(OSError):
            for each in missing:
                each.rmdir()
        raise


def hold(lock: TextIO, *, wait: bool = False) -> bool:
    """Lock an open file until it is closed; False where another process holds it.

    On a file system without locks, such as Lustre as many sites mount it, it is as if nobody did.
    """
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except BlockingIOError:
        return False
    except OSError as error:
        if error.errno not in _NO_LOCKS:
            raise
    return True


@contextmanager
def locked(path: str | os.PathLike[str]) -> Iterator[TextIO | None]:
    """Hold a lock file, made if need be: gives it open to be written on, None where another process holds it."""
    with Path(path).open("a+", encoding="utf-8") as lock:
        yield lock if hold(lock) else None


def _put(partial: Path, target: Path) -> None:
    """Put what was written in its place."""
    if target.is_dir() and not partial.is_dir():
        raise IsADirectoryError(errno.EISDIR, "it is a folder, which no file replaces")
    if target.is_file() and partial.is_file():
        _give_rights(partial, target.stat())
    if target.is_dir():
        # A folder cannot be replaced at one stroke: the former one goes when the new one is whole.
        former = target.with_name(f".{secrets.token_hex(8)}.former")
        target.rename(former)
        partial.rename(target)
        remove(former)
    else:
        partial.replace(target)


def _give_rights(path: Path, former: os.stat_result) -> None:
    """Give a file the group and the permissions that the former one had."""
    mode = stat.S_IMODE(former.st_mode)
    if path.stat().st_gid != former.st_gid:
        try:
            os.chown(path, -1, former.st_gid)
        except OSError:
            # What one group might do is not for another.
            mode &= ~stat.S_IRWXG
    path.chmod(mode)


def write_bytes(path: str | os.PathLike[str], content: bytes) -> None:
    """Write a whole file; `OSError` as `aside`."""
    with aside(path) as partial:
        partial.write_bytes(content)


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Write a whole text file; `OSError` as `aside`, or UnicodeEncodeError before anything is written."""
    write_bytes(path, text.encode())


def remove(path: Path) -> None:
    """Remove a file or a folder with all that is in it; nothing where there is none."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
