"""The formats that are known, in the order in which they are tried."""

from loaders import (
    imb,
    mpi4py_run,
    nccl_tests,
    netpipe,
    occ,
    ompi_tuning,
    online,
    osu,
    pico,
    reprompi,
    run,
    skampi,
    skampi4,
    storage,
    table,
    ucc_perftest,
)
from loaders.source import Format

#: By name. Formats with an unmistakable mark come first, plain tables last.
FORMATS: dict[str, Format] = {
    known.name: known
    for known in (
        storage.NETCDF,
        storage.ZARR,
        run.FORMAT,
        online.FORMAT,
        skampi.FORMAT,
        skampi4.FORMAT,
        reprompi.FORMAT,
        imb.FORMAT,
        osu.FORMAT,
        mpi4py_run.FORMAT,
        nccl_tests.FORMAT,
        ucc_perftest.FORMAT,
        netpipe.FORMAT,
        pico.FORMAT,
        ompi_tuning.FORMAT,
        occ.FORMAT,
        table.FORMAT,
    )
}
