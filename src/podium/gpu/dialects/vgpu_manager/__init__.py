"""vgpu-manager: virtual GPUs by number, each with cores and memory of its own."""

from podium.gpu.dialects.vgpu_manager.dialect import VGPUManager

__all__ = ["VGPUManager"]
