"""The command ``colltune``: what the pages do, without a browser.

Answers go to standard output (``--json``: strict JSON), everything else to standard error. The exit
status is 0 on success, 2 on bad usage or bad input, 1 on a fault of colltune itself. Everything heavy is
imported where it is used, so that ``colltune --help`` answers at once.
"""

from __future__ import annotations

# Everything else is imported where `main` can tell of an interrupt.
import codecs
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

#: Errors whose message says what the user can do, by the module that defines them.
_USER_ERRORS = {
    "dashboard.commands.usage": "Usage",
    "loaders.errors": "LoadError",
    "dashboard.domain.errors": "DecisionError",
    "dashboard.benchmarks.errors": "BenchError",
    "dashboard.export.rules.fault": "RulesError",
    "dashboard.export.target": "ExportError",
    "dashboard.models.errors": "ModelError",
    "dashboard.online.errors": "OnlineError",
    "dashboard.schedules.errors": "ScheduleError",
    "dashboard.server.access": "AccessError",
    "dashboard.server.login": "LoginError",
}
#: What is printed where the terminal's encoding lacks a sign of colltune's own.
_PLAIN = {"≤": "<=", "≥": ">=", "±": "+/-", "×": "x", "…": "...", "→": "->", "–": "-", "µ": "u"}
_INTERRUPTED = 130
_BROKEN_PIPE = 141


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command.

    Parameters
    ----------
    argv
        Arguments without the program's name; default: those of this process.

    Returns
    -------
    int
        Exit status.
    """
    arguments = list(sys.argv[1:] if argv is None else argv)
    if sys.stderr is None:
        # Closed by the caller; print() would send the messages to standard output then.
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123, SIM115 - for as long as the process lives
    codecs.register_error("plain", _plain)
    for stream in (sys.stdout, sys.stderr):
        if reconfigure := getattr(stream, "reconfigure", None):
            reconfigure(errors="plain")
    try:
        run(arguments)
        if sys.stdout is not None:
            sys.stdout.flush()
    except BrokenPipeError:
        # What reads our output has gone (`colltune map … | head`); Python's own flush at exit must not fail again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return _BROKEN_PIPE
    except KeyboardInterrupt:
        _say("interrupted")
        return _INTERRUPTED
    except SystemExit as end:  # --help and --version
        return int(end.code or 0)
    except Exception as error:  # noqa: BLE001 - the rim of the program: whatever is wrong ends in one clear line
        if "--debug" in arguments:
            import traceback

            traceback.print_exc()
        return _report(error)
    return 0


def _plain(error: UnicodeError) -> tuple[str | bytes, int]:
    """Write what the terminal's encoding does not have, also of a label from a file, in ASCII."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    sign = error.object[error.start]
    return _PLAIN.get(sign) or sign.encode("ascii", "backslashreplace").decode(), error.start + 1


def run(arguments: Sequence[str]) -> None:
    """Read the arguments and do what they say."""
    from dashboard.commands.options import parse

    args = parse(arguments)
    from dashboard.commands import dispatch as cli_commands

    cli_commands.run(args)


def _report(error: Exception) -> int:
    """Print what went wrong as one line and give the exit status for it."""
    text = "; ".join(line.strip() for line in str(error).splitlines() if line.strip()).replace(":;", ":")
    if any(_is_a(error, *known) for known in _USER_ERRORS.items()):
        _say(f"error: {text}")
        return 2
    if isinstance(error, OSError) and (refused := _refused(error)):
        _say(f"error: {refused}")
        return 2
    _say(f"error: unexpected {type(error).__name__}: {text} (--debug shows where)")
    return 1


def _refused(error: OSError) -> str:
    """What the system refused and the user can mend, in words; empty: it is something else."""
    import errno

    places = ("ENAMETOOLONG", "ENOTDIR", "EISDIR", "EEXIST", "EACCES", "EPERM", "EROFS")
    room = ("ENOSPC", "EDQUOT", "EFBIG", "EIO", "EMFILE", "ENFILE")
    if error.errno not in [getattr(errno, name) for name in (*places, *room)]:
        return ""
    # Libraries of others and temporary files do not say where.
    return f"{error.filename or 'a folder that it writes to, or that of temporary files (TMPDIR)'}: {error.strerror}"


def _is_a(error: Exception, module: str, name: str) -> bool:
    """Whether the error is of this class; if its module was not even imported it is not."""
    return module in sys.modules and isinstance(error, getattr(sys.modules[module], name))


def _say(text: str) -> None:
    from contextlib import suppress

    from dashboard.commands import output as cli_output

    # The exit status says it where nobody hears.
    with suppress(BrokenPipeError):
        cli_output.say(text)


if __name__ == "__main__":
    sys.exit(main())
