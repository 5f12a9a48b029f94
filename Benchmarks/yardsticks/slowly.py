#!/usr/bin/env python3
"""An HTTP/1.1 server behind nginx that answers each request 200, so many milliseconds late; prints its port, and ends
with its standard input.

    slowly.py MILLISECONDS
"""

import asyncio
import sys

ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"


class Slowly(asyncio.Protocol):
    """One connection: bodies come with their heads, since nginx sends them so."""

    def __init__(self, delay):
        self.delay, self.transport, self.received = delay, None, b""

    def connection_made(self, transport):
        self.transport = transport

    def data_received(self, data):
        self.received += data
        while (end := self.received.find(b"\r\n\r\n")) >= 0:
            head = self.received[:end].lower()
            at = head.find(b"content-length: ")
            length = int(head[at + 16:].split(b"\r\n", 1)[0]) if at >= 0 else 0
            if len(self.received) < end + 4 + length:
                return
            self.received = self.received[end + 4 + length:]
            asyncio.get_running_loop().call_later(self.delay, self.transport.write, ANSWER)


async def main(milliseconds):
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: Slowly(milliseconds / 1000), "127.0.0.1", 0, backlog=1024)
    print(server.sockets[0].getsockname()[1], flush=True)
    await asyncio.to_thread(sys.stdin.read)


asyncio.run(main(float(sys.argv[1])))
