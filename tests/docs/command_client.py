"""Have a command run by `command_server.py`: `command_client.py SOCKET COMMAND ...`; the exit code is the command's.

The shell starts it for each command: it imports nothing but sockets.
"""

import json
import os
import socket
import sys


def main(path: str, *command: str) -> int:
    """Pass the command, where it is given, and its three streams; return its exit code."""
    given = json.dumps([command, os.getcwd(), dict(os.environ)]).encode()
    with socket.socket(socket.AF_UNIX) as server:
        server.connect(path)
        socket.send_fds(server, [b"0"], [0, 1, 2])
        server.sendall(given)
        server.shutdown(socket.SHUT_WR)
        (code,) = server.recv(1)
    return int(code)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
