"""Computing what is lazy on the workers of a dask.distributed scheduler, many machines if they are there.

Only results that open lazily (Zarr and netCDF) are computed there; the workers read the files under the same paths.
"""

import re
from typing import Any

from loaders.errors import LoadError

_ADDRESS = re.compile(r"(tcp|tls|ucx|ws|wss)://\S+:\d+")
_SECONDS = 10
_client: Any = None


def connect(address: str) -> None:
    """Compute there from now on in this process.

    Parameters
    ----------
    address
        Such as ``tcp://head:8786``. Its scheduler is trusted: what comes from it is unpickled.

    Raises
    ------
    LoadError
        It is no address, nobody answers there, or the package is not installed.
    """
    global _client  # noqa: PLW0603 - of the process, as dask's own default is
    if not _ADDRESS.fullmatch(address):
        raise LoadError(f"scheduler {address!r}: write its address, such as tcp://head:8786")
    if _client is not None and _client.status == "running" and _client.scheduler.addr == address:
        return
    try:
        from distributed import Client  # noqa: PLC0415 - an extra, wanted only here
    except ImportError as error:
        raise LoadError(
            "scheduler: dask.distributed is not installed; pip install '.[distributed]' in the folder of colltune"
        ) from error
    disconnect()
    try:
        _client = Client(address, timeout=_SECONDS)  # type: ignore[no-untyped-call]
    except (OSError, TimeoutError) as error:
        raise LoadError(f"scheduler {address}: nobody answers there within {_SECONDS} s") from error


def disconnect() -> None:
    """Compute in this process again."""
    global _client  # noqa: PLW0603 - as above
    if _client is not None:
        _client.close()
        _client = None
