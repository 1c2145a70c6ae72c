"""A server put together: objects, resources, access and documents, ready to be asked.

The one place where the parts meet, whoever reaches them: a socket, a client in the same process,
or a test that calls the service. Who wants HTTP puts an `Application` around it.
"""

from collections.abc import Callable
from random import Random

from cryptography.hazmat.primitives.asymmetric import ec

from podium.apiserver.access.account_tokens import AccountTokens
from podium.apiserver.access.tokens import Tokens
from podium.apiserver.aggregation.api_services import ApiServices
from podium.apiserver.aggregation.priorities import OF_METRICS
from podium.apiserver.http.service import Service
from podium.apiserver.openapi import OpenApi
from podium.apiserver.requests.registry import Registry
from podium.apiserver.resource_metrics.handler import GROUP as METRICS_GROUP
from podium.apiserver.resource_metrics.handler import VERSION as METRICS_VERSION
from podium.apiserver.serving.bootstrap import bootstrap
from podium.apiserver.serving.own_service import Advertised, ensure_own_service
from podium.apiserver.serving.published_authority import publish_authority
from podium.apiserver.store.store import Store
from podium.kubernetes.admission import DEFAULT_SETTINGS, AdmissionSettings
from podium.kubernetes.releases.feature_gates import FeatureGates
from podium.kubernetes.resources.builtin import served_resources
from podium.kubernetes.resources.runtime_config import EVERYTHING, RuntimeConfig
from podium.kubernetes.resources.table import ResourceTable


def build_service(
    store: Store,
    tokens: Tokens,
    *,
    clock: Callable[[], float],
    randomness: Random,
    settings: AdmissionSettings = DEFAULT_SETTINGS,
    gates: FeatureGates | None = None,
    account_key: ec.EllipticCurvePrivateKey | None = None,
    advertised: Advertised | None = None,
    serves_metrics: bool = False,
    runtime_config: RuntimeConfig = EVERYTHING,
    authority: bytes = b"",
) -> Service:
    """A service over a store, with what every cluster has from its first moment.

    `clock` gives seconds since 1970, `gates` say what is served, `account_key` signs the tokens of
    service accounts; without it they are good for this service only. `advertised` is where the
    server can be reached, as the endpoints of its own service tell. `serves_metrics` is for
    clusters whose nodes are simulated. `runtime_config` switches group-versions off, `authority` is
    the certificate authority of the server, PEM, if it has one.
    """
    gates = gates or FeatureGates()
    table = ResourceTable(served_resources(gates), runtime_config)
    registry = Registry(store, table, clock=clock, randomness=randomness, settings=settings)
    key = account_key or ec.generate_private_key(ec.SECP256R1())
    tokens.accounts = AccountTokens(key, registry.lookup, clock)
    bootstrap(registry, gates)
    ensure_own_service(registry, advertised)
    publish_authority(registry, authority)
    api_services = ApiServices(registry)
    openapi = OpenApi(table, registry.definitions.schema_of)
    service = Service(registry, tokens, openapi, api_services)
    if serves_metrics:
        service.serve_metrics()
    metrics = {(METRICS_GROUP, METRICS_VERSION): OF_METRICS} if serves_metrics else {}
    api_services.register_built_in(metrics)
    return service
