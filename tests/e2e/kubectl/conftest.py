"""kubectl, the real program, against a real process.

One server serves all tests of a file; each has a namespace to itself. Nothing runs behind the API,
so where a controller or a kubelet would have written a status, the test writes it.
"""

from collections.abc import Iterator
from itertools import count

import pytest
from support.apiserver.apiserver_process import RunningServer, serving
from support.apiserver.kubectl_process import Kubectl, releases, required
from support.e2e.manifests import NODE

numbers = count(1)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    with serving(tmp_path_factory.mktemp("server")) as running:
        yield running
        _, err = running.stop()
    assert "Traceback" not in err


@pytest.fixture(scope="module", params=releases())
def program(
    request: pytest.FixtureRequest, server: RunningServer, tmp_path_factory: pytest.TempPathFactory
) -> Kubectl:
    path = required(request.param)
    home = tmp_path_factory.mktemp("home")
    return Kubectl(path, request.param, server.kubeconfig, home)


@pytest.fixture
def kubectl(program: Kubectl) -> Kubectl:
    """kubectl in a namespace of the test's own."""
    namespace = f"team-{next(numbers)}"
    assert program("create", "namespace", namespace) == f"namespace/{namespace} created\n"
    return program.within(namespace)


@pytest.fixture
def node(kubectl: Kubectl) -> str:
    name = f"node-{next(numbers)}"
    said = kubectl("create", "-f", "-", stdin=NODE.replace("NAME", name))
    assert said == f"node/{name} created\n"
    return name


@pytest.fixture
def number() -> int:
    """For names of what belongs to no namespace."""
    return next(numbers)
