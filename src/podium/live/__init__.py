"""The live driver: the engine in a cluster, through its API server.

    feed            watches -> what the engine is told
    scheduler       the loop: one attempt after the other, requests handed on
    api_dispatcher  the engine's requests -> API writes
    api_handle      the writes of binding plugins
    event_recorder  events with series
    leader_election one scheduler of several works at a time
    serving         health, metrics and configuration over HTTPS

One asyncio process. All durable state is in the API server: a restart loses nothing.
"""
