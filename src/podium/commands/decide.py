"""`podium decide`: recorded cases in, the same cases with decisions out."""

import sys
from typing import BinaryIO

from podium.commands.exit_codes import OK


def decide() -> int:
    """Read cases from standard input, write them to standard output with `expect` filled in.

    One JSON document a line, in the format of the parity corpus. Expectations that are already
    there are not read. Output follows each case as it is decided.

    **Exit code** 0, or 2 if a case is wrong; those before it were decided.

    Example: zcat cases.jsonl.gz | podium decide > decided.jsonl
    """
    decide_stream(sys.stdin.buffer, sys.stdout.buffer)
    return OK


def decide_stream(source: BinaryIO, target: BinaryIO) -> None:
    import msgspec

    from podium.golang.yaml_writer import escape_in_json
    from podium.offline.simulate.outside_code import asker_of
    from podium.parity.cases import Case, CaseStep, read_cases
    from podium.parity.replay import decide as decide_case

    encoder = msgspec.json.Encoder()
    for case in read_cases(source, "standard input"):
        answers = decide_case(case, asker_of)
        steps = tuple(
            CaseStep(pod=step.pod, expect=answer)
            for step, answer in zip(case.steps, answers, strict=True)
        )
        decided = Case(
            name=case.name,
            kubernetes=case.kubernetes,
            config=case.config,
            objects=case.objects,
            steps=steps,
        )
        target.write(escape_in_json(encoder.encode(decided).decode()).encode() + b"\n")
        target.flush()
