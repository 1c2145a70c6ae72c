"""A machine in memory for tests of starting: its files and variables, with Go's refusals."""

from collections.abc import Mapping

from podium.scheduler.config.flags.client_settings import FileProblem


class FakeHostEnvironment:
    """Files by path; a path that ends in `/` is a directory."""

    def __init__(
        self, files: Mapping[str, str] | None = None, variables: Mapping[str, str] | None = None
    ) -> None:
        self._files = dict(files or {})
        self._variables = dict(variables or {})

    def read(self, path: str) -> bytes:
        if f"{path}/" in self._files:
            raise FileProblem(f"read {path}: is a directory")
        self.open(path)
        return self._files[path].encode()

    def find(self, path: str) -> None:
        self._look("stat", path)

    def open(self, path: str) -> None:
        self._look("open", path)

    def absolute(self, path: str, below: str) -> str:
        return path if path.startswith("/") else f"/home/{below.rpartition('/')[0]}{path}"

    def variable(self, name: str) -> str:
        return self._variables.get(name, "")

    def _look(self, call: str, path: str) -> None:
        if path not in self._files and f"{path}/" not in self._files:
            raise FileProblem(f"{call} {path}: no such file or directory")
