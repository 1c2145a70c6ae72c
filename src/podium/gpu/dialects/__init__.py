"""The ways in which agents on nodes and their schedulers speak of cards."""
