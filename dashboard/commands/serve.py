"""``colltune serve``: the dashboard, and who may reach it."""

import argparse
import os
from pathlib import Path

from dashboard.commands import values as cli_values
from dashboard.commands.usage import Usage

#: Letters of a path that are shown.
_SHOWN = 200


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``serve``, all but the hints."""
    what = "results to open; default: those in $COLLTUNE_DATA, else the sample data"
    parser.add_argument("paths", nargs="*", metavar="PATH", help=what)
    parser.add_argument("--data", action="extend", nargs="+", default=[], metavar="PATH", help="the same")
    parser.add_argument("--port", type=cli_values.port, default=5006, help="default 5006; 0 = any free one")
    parser.add_argument(
        "--num-procs", type=cli_values.processes, default=1, metavar="N", help="default 1; 0 = all cores"
    )
    parser.add_argument("--no-browser", action="store_true", help="do not open a browser window")
    parser.add_argument(
        "--campaigns",
        metavar="FOLDER",
        help="where page Measure keeps its campaigns; default: $COLLTUNE_CAMPAIGNS, else a folder of your own",
    )
    group = parser.add_argument_group("who may reach it")
    group.add_argument(
        "--address", default="127.0.0.1", help="default 127.0.0.1, this machine only; others need log-in and origin"
    )
    group.add_argument(
        "--allow-websocket-origin",
        dest="origins",
        action="append",
        default=[],
        metavar="HOST:PORT",
        help="name under which browsers reach the page, if it is not this machine's own, such as a proxy's",
    )
    group.add_argument(
        "--basic-auth", metavar="FILE", help='names and passwords, as {"alice": "…"}; only you may be able to read it'
    )
    group.add_argument(
        "--hash-password", action="store_true", help="ask for a password and print what can stand for it in that FILE"
    )
    group.add_argument(
        "--oauth-provider",
        metavar="NAME",
        help="log in there; PANEL_OAUTH_KEY, PANEL_OAUTH_SECRET and PANEL_OAUTH_ENCRYPTION are in the environment, for "
        "generic also PANEL_OAUTH_AUTHORIZE_URL, PANEL_OAUTH_TOKEN_URL, PANEL_OAUTH_USER_URL and PANEL_USER_KEY (which "
        "field of the user is the name; default: email)",
    )
    group.add_argument(
        "--launchers",
        type=lambda text: [name for name in map(str.strip, text.split(",")) if name],
        default=[],
        metavar="NAME,…",
        help="of those who log in, who may start jobs from the page (also $COLLTUNE_LAUNCHERS); default: nobody",
    )
    group.add_argument("--ssl-certfile", metavar="FILE", help="speak HTTPS with this certificate")
    group.add_argument("--ssl-keyfile", metavar="FILE", help="and this key, if it is not in the same file")


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
        raise Usage(f"cannot serve at {args.address}:{args.port}: {error.strerror or error}") from error


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
