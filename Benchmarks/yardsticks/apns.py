#!/usr/bin/env python3
"""Posts to an APNs on this machine with aioapns, so many under way at a time; prints posts a second as JSON, and posts
a second of processor time.

    apns.py PORT AUTHORITY.pem KEY.p8 COUNT [AT-ONCE]
"""

import asyncio
import json
import ssl
import sys
import time

import aioapns
import aioapns.connection

TOKEN = "0f" * 32
PAYLOAD = {"aps": {"alert": {"title": "Incoming connection", "body": "Someone is trying to reach you."},
                   "mutable-content": 1}, "payload": "a" * 200}
WARM_UP = 500


async def main(port, authority, key, count, at_once):
    protocol = aioapns.connection.APNsProductionClientProtocol
    protocol.APNS_SERVER, protocol.APNS_PORT = "localhost", port
    context = ssl.create_default_context(cafile=authority)
    context.set_alpn_protocols(["h2"])
    with open(key, encoding="ascii") as file:
        client = aioapns.APNs(key=file.read(), key_id="FAKEKEY123", team_id="FAKETEAM12", topic="app.example.wallet",
                              ssl_context=context, max_connections=1)

    async def posts(numbers):
        for _ in numbers:
            request = aioapns.NotificationRequest(
                device_token=TOKEN, message=PAYLOAD, time_to_live=60, priority=10, push_type=aioapns.PushType.ALERT)
            answer = await client.send_notification(request)
            if not answer.is_successful:
                raise RuntimeError(answer.description)

    await posts(range(WARM_UP))
    numbers = iter(range(count))
    start, used = time.perf_counter(), time.process_time()
    await asyncio.gather(*(posts(numbers) for _ in range(at_once)))
    seconds, used = time.perf_counter() - start, time.process_time() - used
    print(json.dumps({"posts_per_s": count / seconds, "posts_per_cpu_s": count / used}))


asyncio.run(main(int(sys.argv[1]), *sys.argv[2:4], int(sys.argv[4]), int(sys.argv[5]) if len(sys.argv) > 5 else 64))
