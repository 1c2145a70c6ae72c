"""What controllers import: a promise from release to release."""

import podium.client

SURFACE = {
    "AsgiTransport", "BucketRateLimiter", "Clock", "ControlLoop", "DeleteOptions",
    "DeletedFinalStateUnknown", "Delta", "DeltaFIFO", "DeltaType",
    "HandlerRegistration", "HttpTransport", "Index", "IndexFunc", "Indexer",
    "ItemExponentialFailureRateLimiter", "Key", "KubeClient", "LimitedTransport", "Lister",
    "LoopClock", "MaxOfRateLimiter", "NAMESPACE_INDEX", "ObjectStore", "PatchType", "PoppedDeltas",
    "QueueShutDown", "RateLimiter", "RateLimitingQueue", "Reflector", "ReflectorStore",
    "RequestFailed", "ResourceEventHandler", "ResourceEventHandlerFuncs", "ResourceType",
    "Selection", "SharedInformer", "SharedInformerFactory", "TokenBucket", "Transport",
    "Unreachable", "api_errors", "connect", "default_controller_rate_limiter",
    "last_state", "meta_namespace_key", "new_indexer_informer", "resources",
    "split_meta_namespace_key",
}  # fmt: skip


def test_what_controllers_import_is_there_and_stays() -> None:
    assert set(podium.client.__all__) == SURFACE
    assert all(hasattr(podium.client, name) for name in SURFACE)
