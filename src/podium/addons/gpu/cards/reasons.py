"""Why a node or a card is not taken. Codes are stable: metrics, answers and documents carry them.

A node's reason is the one that keeps most of its cards away, the first of the list if several do.
"""

from enum import Enum


class Reason(Enum):
    """(code, phrase): the phrase stands behind a node's name in answers and messages."""

    # of the whole node
    NO_CARDS = "NodeNoGPU", "no GPU device"
    NOT_REGISTERED = "NodeNoVGPURegister", "node has no registered GPUs"
    BAD_REGISTRATION = "NodeBadVGPURegister", "the node's GPU registration cannot be read"
    NO_HEARTBEAT = "NodeNoHeartbeat", "node has no gpu manager heartbeat"
    HEARTBEAT_TIMEOUT = "NodeHeartbeatTimeout", "node heartbeat timeout"
    BAD_HEARTBEAT = "NodeBadHeartbeat", "node heartbeat time is not a standard timestamp"
    NODE_LOCKED = "NodeLocked", "another pod is being bound to the node"
    QUOTA_EXCEEDED = "ExceedsGPUQuota", "ExceedsGPUQuota"
    # of single cards
    UNHEALTHY = "DeviceUnhealthy", "GPU is unhealthy"
    CORDONED = "DeviceCordoned", "GPU is cordoned"
    MIG_ENABLED = "DeviceMIGEnabled", "GPU is in MIG mode"
    NO_MIG_PROFILE = "InsufficientMIGPlacement", "no free placement for the MIG profile"
    MODEL_MISMATCH = "DeviceTypeMismatch", "GPU type does not match"
    UUID_MISMATCH = "DeviceUUIDMismatch", "GPU UUID does not match"
    NOT_IDLE = "DeviceInUse", "GPU is in use"
    CORES_EXHAUSTED = "DeviceCoresExhausted", "GPU cores are exhausted"
    INSUFFICIENT_SLOTS = "InsufficientVGPUSlot", "insufficient GPU slots"
    INSUFFICIENT_MEMORY = "InsufficientVGPUMemory", "insufficient GPU memory"
    INSUFFICIENT_CORES = "InsufficientVGPUCore", "insufficient GPU cores"
    # of cards together
    INSUFFICIENT_CARDS = "InsufficientGPUCards", "insufficient GPU cards"
    NUMA_UNSATISFIED = "NUMATopologyUnsatisfied", "no NUMA node has enough matching GPUs"
    LINKS_UNSATISFIED = "LinkTopologyUnsatisfied", "no linked GPUs match"
    # of the pod
    INVALID_REQUEST = "InvalidGPURequest", "the pod's GPU request is not valid"

    def __init__(self, code: str, phrase: str) -> None:
        self.code = code
        self.phrase = phrase
