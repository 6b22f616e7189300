"""Blocks the network in every Python process that starts with this folder on PYTHONPATH.

pytest-socket guards the test process only; notebooks run in kernels of their own. A call that would
leave this machine, or ask for an address out there, raises PermissionError and names the host.
"""

import ipaddress
import socket
import sys
from typing import Any


def _is_local(host: Any) -> bool:
    name = host.decode() if isinstance(host, bytes) else host
    if not name or name in ("localhost", socket.gethostname()):
        return True
    try:
        address = ipaddress.ip_address(name)
    except ValueError:
        return False
    return address.is_loopback or address.is_unspecified


def _guard(event: str, args: tuple[Any, ...]) -> None:
    if event in ("socket.getaddrinfo", "socket.gethostbyname"):
        host = args[0]
    elif event in ("socket.connect", "socket.sendto") and isinstance(args[1], tuple):  # no Unix socket
        host = args[1][0]
    else:
        return
    if not _is_local(host):
        raise PermissionError(f"the network is blocked in this run, and something asked for {host!r}")


# An audit hook sees every Python socket, however it was made, and cannot be taken off again.
sys.addaudithook(_guard)
