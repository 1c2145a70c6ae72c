"""`python -m podium` is the `podium` command, for places where scripts are not on the path."""

import sys

from podium.cli import main

if __name__ == "__main__":
    sys.exit(main())
