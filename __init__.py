"""A mock of the Loops trainer metrics endpoint, and the contract that it is held to."""

__version__ = "0.1.0"
