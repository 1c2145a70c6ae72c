"""Words by which people speak to the simulated cluster: labels and annotations.

podium.dev/simulated=true      label of a node: Podium plays its kubelet
podium.dev/failure             annotation of a node: `unreachable` or `not-ready`
podium.dev/pressure            annotation of a node: what it runs short of: `memory`, `disk`, `pid`
podium.dev/gpus                annotation of a node: the GPUs that it has, `8xA100`
podium.dev/gpu-dialect         annotation of a node: how its GPU agent speaks; `hami` without it
podium.dev/gpu-unhealthy       annotation of a node: indexes of the GPUs that are broken
podium.dev/gpu-agent-failure   annotation of a node: `silent` or `stopped`
podium.dev/start-seconds       annotation of a pod: how long it takes to start
podium.dev/run-seconds         annotation of a pod: how long its containers run; without it, as long
                               as their commands do, or for ever
podium.dev/result              annotation of a pod: `Succeeded` or `Failed` when it has run
podium.dev/exit-code           annotation of a pod: exit code of its containers when it fails
podium.dev/stop-seconds        annotation of a pod: how long it takes to stop, at most
                               its grace period
podium.dev/image-pull-error    annotation of a pod: why its images cannot be pulled
"""

from typing import Final

SIMULATED: Final = "podium.dev/simulated"
FAILURE: Final = "podium.dev/failure"
NOT_READY: Final = "not-ready"
"""The failure of a node that still speaks; any other one makes it fall silent."""
PRESSURE: Final = "podium.dev/pressure"
GPUS: Final = "podium.dev/gpus"
GPU_DIALECT: Final = "podium.dev/gpu-dialect"
DEFAULT_GPU_DIALECT: Final = "hami"
GPU_UNHEALTHY: Final = "podium.dev/gpu-unhealthy"
GPU_AGENT_FAILURE: Final = "podium.dev/gpu-agent-failure"
STOPPED: Final = "stopped"
"""The failure of a GPU agent that the kubelet notices; any other one only makes it fall silent."""
RUN_SECONDS: Final = "podium.dev/run-seconds"
RESULT: Final = "podium.dev/result"
EXIT_CODE: Final = "podium.dev/exit-code"
STOP_SECONDS: Final = "podium.dev/stop-seconds"
IMAGE_PULL_ERROR: Final = "podium.dev/image-pull-error"
