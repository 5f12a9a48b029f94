#!/usr/bin/env python3
"""A WebSocket server with compression by the `websockets` package; it greets with "hello" and sends back what comes.

    deflate_peer.py [--alone] [--bits N] [--tls CERTIFICATE.pem]

`--alone`: each message is compressed by itself (server_no_context_takeover). `--bits`: its window (8 to 15). `--tls`:
encrypted, with the key behind the certificate. Listens on 127.0.0.1 until standard input ends; prints its port first.
"""

import argparse
import asyncio
import ssl
import sys

from websockets.asyncio.server import serve
from websockets.extensions.permessage_deflate import ServerPerMessageDeflateFactory


async def echo(connection):
    await connection.send("hello")
    async for message in connection:
        await connection.send(message)


async def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--alone", action="store_true")
    parser.add_argument("--bits", type=int)
    parser.add_argument("--tls")
    options = parser.parse_args()
    context = None
    if options.tls:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(options.tls)
    deflate = ServerPerMessageDeflateFactory(
        server_no_context_takeover=options.alone, server_max_window_bits=options.bits)
    async with serve(
            echo, "127.0.0.1", 0, compression=None, extensions=[deflate], max_size=1 << 24, ssl=context) as server:
        print(server.sockets[0].getsockname()[1], flush=True)
        await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)


asyncio.run(main())
