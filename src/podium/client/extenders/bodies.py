"""An answer's body as it comes in: unpacked, and never larger than it may be."""

import zlib
from typing import Final

_GZIP: Final = 16 + zlib.MAX_WBITS
_MIB: Final = 1 << 20


class Body:
    """Collects pieces; a gzip body is bounded by what it unpacks to."""

    def __init__(self, limit: int, encoding: str) -> None:
        self.received = bytearray()
        self._limit = limit
        self._unpacker = zlib.decompressobj(_GZIP) if encoding.strip().lower() == "gzip" else None
        self._begun = False

    def take(self, piece: bytes) -> str:
        """Add what came; the answer says why no more should be taken, "" if it should."""
        self._begun = self._begun or bool(piece)
        if self._unpacker is None:
            self.received += piece[: self._room() + 1]
        else:
            try:
                self._unpack(piece, self._unpacker)
            except zlib.error:
                return "gzip: invalid header" if not self.received else "gzip: invalid checksum"
        if self._room() < 0:
            del self.received[self._limit :]
            return f"the answer is larger than {self._limit // _MIB} MiB"
        return ""

    def end(self) -> str:
        """Why the body is not whole although no more comes, "" if it is."""
        cut_short = self._unpacker is not None and self._begun and not self._unpacker.eof
        return "unexpected EOF" if cut_short else ""

    def _room(self) -> int:
        return self._limit - len(self.received)

    def _unpack(self, piece: bytes, unpacker: "zlib._Decompress") -> None:
        while piece and self._room() >= 0:
            if unpacker.eof:
                # A gzip file may be several, one after the other.
                unpacker = self._unpacker = zlib.decompressobj(_GZIP)
            self.received += unpacker.decompress(piece, self._room() + 1)
            piece = unpacker.unused_data if unpacker.eof else unpacker.unconsumed_tail
