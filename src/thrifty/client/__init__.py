"""A client of the decision service. It needs the standard library and nothing else."""

from thrifty.client.client import Client
from thrifty.client.values import Decision, Result
from thrifty.client.wire import Away, Refused

__all__ = ["Away", "Client", "Decision", "Refused", "Result"]
