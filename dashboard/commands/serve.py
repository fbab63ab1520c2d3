"""``colltune serve``: the dashboard, and who may reach it."""

import argparse
import errno
import os
from pathlib import Path

from dashboard.commands.usage import Usage

#: Letters of a path that are shown.
_SHOWN = 200


def serve(args: argparse.Namespace) -> None:
    """Run the dashboard until it is stopped."""
    if args.hash_password:
        _hash()
        return
    from dashboard.commands.load import hints_of
    from dashboard.serve import serve as run
    from dashboard.server.access import Access

    for path in [*args.paths, *args.data]:
        try:
            os.stat(Path(path).expanduser())  # noqa: PTH116 - told why it cannot be found
        except OSError as error:
            raise Usage(
                f"--data {path[:_SHOWN]}: {error.strerror or error}; name files and folders that are there"
            ) from error
    if args.campaigns:
        _keep_campaigns(Path(args.campaigns).expanduser().absolute())
    hints = {**hints_of(args), **({"format": args.format} if args.format else {})}
    names = ("address", "origins", "basic_auth", "oauth_provider", "launchers", "ssl_certfile", "ssl_keyfile")
    access = Access(**{name: getattr(args, name) for name in names})
    where = {"access": access, "port": args.port, "show": not args.no_browser, "num_procs": args.num_procs}
    try:
        run([*args.paths, *args.data], **where, **hints)
    except OSError as error:
        why = os.strerror(error.errno) if error.errno else str(error)
        remedy = "--port 0 takes a free one" if error.errno == errno.EADDRINUSE else "see --port and --address"
        raise Usage(f"cannot serve at {args.address}:{args.port}: {why}; {remedy}") from error


def _keep_campaigns(folder: Path) -> None:
    """Name the campaigns' folder to this process and to those that it serves by."""
    from dashboard.measuring.kept import ROOT_VARIABLE

    if folder.exists() and not folder.is_dir():
        raise Usage(f"--campaigns {folder}: that is a file; name a folder, which is made when it is not there")
    os.environ[ROOT_VARIABLE] = str(folder)


def _hash() -> None:
    from getpass import getpass

    from dashboard.server.login import hashed

    print(hashed(getpass("Password: ")))
