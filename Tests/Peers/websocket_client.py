#!/usr/bin/env python3
"""A WebSocket client by the `websockets` package, for a server that sends back what comes.

    websocket_client.py URL [--deflate] [--alone] [--server-bits N] [--client-bits N] [--trust AUTHORITY.pem]

It sends texts of many sizes, in one frame and in fragments, and pings between; compares what comes back; closes with
1000, and prints one line: "done" with the extensions that were agreed on, or what went wrong. Then it waits until
standard input ends.
"""

import argparse
import asyncio
import random
import ssl
import sys

from websockets.asyncio.client import connect
from websockets.extensions.permessage_deflate import ClientPerMessageDeflateFactory


async def converse(connection):
    generator = random.Random(7)
    event = '["EVENT","s",{"id":"00","pubkey":"aa","kind":1,"tags":[],"content":"héllo wörld 🐓"}]'
    noise = "".join(chr(generator.randrange(32, 127)) for _ in range(200_000))
    texts = ["", "a", event, event * 9_000, noise, event] + [event[:size] for size in (1, 20, 75)] * 50
    for text in texts:
        await connection.send(text)
    for text in texts:
        if await connection.recv() != text:
            return "another text came back"
    await (await connection.ping())
    await connection.send(event[start:start + 7] for start in range(0, len(event), 7))
    if await connection.recv() != event:
        return "fragments came back as something else"
    await connection.close()
    if connection.close_code != 1000:
        return f"closed with {connection.close_code}"
    extensions = connection.response.headers.get("Sec-WebSocket-Extensions", "no extension")
    return f"done: {extensions}"


async def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("url")
    parser.add_argument("--deflate", action="store_true")
    parser.add_argument("--alone", action="store_true")
    parser.add_argument("--server-bits", type=int)
    parser.add_argument("--client-bits", type=int)
    parser.add_argument("--trust")
    options = parser.parse_args()
    deflate = ClientPerMessageDeflateFactory(
        server_no_context_takeover=options.alone, client_no_context_takeover=options.alone,
        server_max_window_bits=options.server_bits, client_max_window_bits=options.client_bits or True)
    context = ssl.create_default_context(cafile=options.trust) if options.trust else None
    try:
        async with connect(options.url, compression=None, extensions=[deflate] if options.deflate else None,
                           max_size=1 << 24, ssl=context, proxy=None) as connection:
            print(await asyncio.wait_for(converse(connection), 60), flush=True)
    except Exception as error:
        print(f"failed: {type(error).__name__}: {error}", flush=True)
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)


asyncio.run(main())
