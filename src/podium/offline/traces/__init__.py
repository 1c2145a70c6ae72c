"""What happened in a cluster over time, in a file: recorded once, decided anew as often as wanted.

    recorded_fields.py, recorded_annotations.py    what of objects is written, and nothing else
    object_recording.py                            an object as it is written
    trace_lines.py                                 the format, line by line
    trace_writing.py, trace_reading.py             files of it
    recorder.py, recording_rights.py               following a cluster, and what that needs
    recorded_pods.py                               what became of each pod, as recorded
    replay_events.py, replay.py, replay_report.py  the same arrivals under another configuration

The word is the field's: cluster traces are what Google and Alibaba have published of theirs. Traces
of OpenTelemetry are another thing (`live/tracing.py`), and so are recorded cases (`parity`).
"""
