"""HAMi: cards by number, memory in megabytes or percent, cores in percent."""

from podium.addons.gpu.dialects.hami.dialect import HAMi

__all__ = ["HAMi"]
