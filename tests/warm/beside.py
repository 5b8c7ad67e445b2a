"""A program that stands for one in a nursery, where somebody else starts programs: its streams are the other's, and so is its end."""

import json
import os
import socket
import sys

place, *words = sys.argv[1:]
with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as nursery:
    nursery.connect(place)
    wish = {"words": words, "folder": os.getcwd(), "environment": dict(os.environ), "together": True}  # noqa: PTH109 - to load pathlib takes longer than all the rest
    socket.send_fds(nursery, [json.dumps(wish).encode()], [0, 1, 2])
    for stream in (0, 1, 2):
        os.close(stream)
    nursery.recv(8)
    ended = os.waitstatus_to_exitcode(int.from_bytes(nursery.recv(8), "big"))
os._exit(ended if ended >= 0 else 128 - ended)
