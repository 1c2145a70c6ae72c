"""The live driver: the engine in a cluster, through its API server.

    feed            watches -> what the engine is told
    scheduler       the loop: one attempt after the other, requests handed on
    api_dispatcher  requests of the engine and of binding plugins -> API writes
    event_recorder  events with series
    leader_election one scheduler of several works at a time
    serving         health, metrics and configuration over HTTPS

One asyncio process. All durable state is in the API server: a restart loses nothing.
"""
