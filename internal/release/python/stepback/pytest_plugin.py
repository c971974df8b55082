"""The fixtures stepback_server and stepback."""

import itertools

import pytest

from . import Server

_accounts = itertools.count(100_000_000_000)


@pytest.fixture(scope="session")
def stepback_server():
    """A server for all tests of the session, with its own data."""
    server = Server()
    yield server
    server.stop()


@pytest.fixture
def stepback(stepback_server):
    """An account of the server that no other test uses."""
    return stepback_server.account(str(next(_accounts)))
