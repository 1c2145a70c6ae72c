"""The `podium` command, as a script and as `python -m podium`.

Everything else is loaded from here, and whoever interrupts that is answered as later: with one line
and exit code 130, not with a traceback.
"""

import sys


def main() -> int:
    try:
        from podium.commands import main as run

        return run()
    except KeyboardInterrupt:
        sys.stderr.write("podium: interrupted\n")
        return 130


if __name__ == "__main__":
    sys.exit(main())
