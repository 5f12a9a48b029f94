#!/usr/bin/env python3
"""A browser of the page of links, as much of one as requests need, by `websockets`.

The first line of standard input is the address that `page.enter` makes. It is entered, "entered" is printed, and each
further line is an array of requests, {"method","arguments"}, that are sent at once; their answers are printed as one
array, in the order of the requests.
"""

import asyncio
import http.client
import json
import sys
import urllib.parse

from websockets.asyncio.client import connect


def enter(address):
    """The cookie, and the host."""
    place = urllib.parse.urlsplit(address)
    connection = http.client.HTTPConnection(place.netloc)
    connection.request("GET", place.path)
    response = connection.getresponse()
    if response.status != 303:
        sys.exit(f"{response.status}: {response.read().decode()}")
    return response.headers["Set-Cookie"].split(";")[0], place.netloc


async def main():
    cookie, host = enter(sys.stdin.readline().strip())
    headers = {"Cookie": cookie}
    async with connect(f"ws://{host}/live", origin=f"http://{host}", additional_headers=headers) as connection:
        print("entered", flush=True)
        loop = asyncio.get_running_loop()
        while line := await loop.run_in_executor(None, sys.stdin.readline):
            requests = json.loads(line)
            for number, request in enumerate(requests):
                await connection.send(json.dumps({"id": number, **request}))
            answers = {}
            while len(answers) < len(requests):
                message = json.loads(await connection.recv())
                # The others were not asked for.
                if "id" in message:
                    answers[message["id"]] = message
            print(json.dumps([answers[number] for number in range(len(requests))]), flush=True)


asyncio.run(main())
