"""The numbers of protobuf fields, as data.

A line is a message and its fields in the order of their numbers, which count up from 1; a number
between two names says where the next one stands. `~Name` is a message whose fields JSON has among
those of the outer one. Facts of Kubernetes' `generated.proto` files; numbers never change.
"""

from podium.apiserver.protobuf.numbers import (
    core_a_to_n,
    core_o_to_z,
    definitions,
    devices_and_storage,
    groups,
    meta,
    networking_and_autoscaling,
)

TEXTS: tuple[str, ...] = (
    core_a_to_n.NUMBERS,
    core_o_to_z.NUMBERS,
    definitions.NUMBERS,
    devices_and_storage.NUMBERS,
    groups.NUMBERS,
    meta.NUMBERS,
    networking_and_autoscaling.NUMBERS,
)
