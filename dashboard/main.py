"""What `panel serve dashboard` runs, once for each session; what follows ``--args`` are files and folders to open."""

import sys

from dashboard.app import create_app
from dashboard.session.samples import start_with

create_app(start_with(sys.argv[1:])).servable()
