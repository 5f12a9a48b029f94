#!/usr/bin/env python3
"""Publishes an event to a relay over a compressed connection, and asks for it, by the `websockets` package.

    deflate_client.py --window=N|--alone URL EVENT

`--window`: the largest window either side may use (9 to 15). `--alone`: each message is compressed by itself, in both
directions. Ends with 0 when the connection was compressed, the event was taken, and came back whole.
"""

import asyncio
import json
import sys

from websockets.asyncio.client import connect
from websockets.extensions.permessage_deflate import ClientPerMessageDeflateFactory


async def main(flag, url, text):
    if flag == "--alone":
        offer = ClientPerMessageDeflateFactory(server_no_context_takeover=True, client_no_context_takeover=True)
    else:
        bits = int(flag.partition("=")[2])
        offer = ClientPerMessageDeflateFactory(server_max_window_bits=bits, client_max_window_bits=bits)
    event = json.loads(text)
    async with connect(url, compression=None, extensions=[offer], max_size=1 << 22) as connection:
        assert connection.protocol.extensions, "the relay has not agreed to compression"
        await connection.send(json.dumps(["EVENT", event]))
        answer = json.loads(await connection.recv())
        assert answer[:3] == ["OK", event["id"], True], answer
        # Twice: the second time within the window of the first.
        for name in ("a", "b"):
            await connection.send(json.dumps(["REQ", name, {"ids": [event["id"]]}]))
            assert json.loads(await connection.recv()) == ["EVENT", name, event]
            assert json.loads(await connection.recv())[:2] == ["EOSE", name]


asyncio.run(asyncio.wait_for(main(*sys.argv[1:]), 30))
