"""The fixtures stepback_options, stepback_server and stepback."""

import zlib

import pytest

from . import Server

_accounts = set()


def _account(test):
    """Returns an account ID that no other test has. It follows from the test's name, so that a seed repeats its random values."""
    number = zlib.crc32(test.encode())
    while number in _accounts:
        number += 1
    _accounts.add(number)
    return str(100_000_000_000 + number)


@pytest.fixture(scope="session")
def stepback_options():
    """Arguments of stepback.Server. Override it in conftest.py, for example to return {"virtual_time": True, "seed": 7}."""
    return {}


@pytest.fixture(scope="session")
def stepback_server(stepback_options):
    """A server for all tests of the session, with its own data."""
    server = Server(**stepback_options)
    yield server
    server.stop()


@pytest.fixture
def stepback(stepback_server, request):
    """An account of the server that no other test uses."""
    return stepback_server.account(_account(request.node.nodeid))
