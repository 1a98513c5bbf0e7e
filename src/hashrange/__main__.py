"""`python -m hashrange`."""

import sys

from hashrange.cli.main import main

sys.exit(main())
