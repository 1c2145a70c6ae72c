"""What drivers without an API server share: an API in memory, and what the engine asks for done on
it at once. The simulator, the bench, the parity replay and `podium.testing` add what is theirs."""
