"""Hashrange: a DynamoDB-compatible database that anybody can run."""

__version__ = "0.1.0"
