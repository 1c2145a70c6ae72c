"""Commands of Podium one after the other in a process; prints their codes and outputs as JSON.

python -m support.scheduler.plugins.commands_at_work '[["why", "web-0", "-f", "cluster.json"]]'
"""

import io
import json
import sys
from contextlib import redirect_stdout

from podium.commands import main


def run(arguments: list[str]) -> list[object]:
    with redirect_stdout(io.StringIO()) as told:
        code = main(arguments)
    return [code, told.getvalue()]


if __name__ == "__main__":
    print(json.dumps([run(arguments) for arguments in json.loads(sys.argv[1])]))
