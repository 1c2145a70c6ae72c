"""vgpu-manager: virtual GPUs by number, each with cores and memory of its own."""

from podium.addons.gpu.dialects.vgpu_manager.dialect import VGPUManager

__all__ = ["VGPUManager"]
