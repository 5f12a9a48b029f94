#!/usr/bin/env python3
"""A proxy (CONNECT) that leads every host to one HTTPS site of its own: a page as TikTok's, of one video.

    video_site.py CERTIFICATE.pem

Prints its port, and then a line for each host that it is asked for. Ends when standard input does.
"""

import json
import socket
import ssl
import sys
import threading

FILE = "https://media.example/high.mp4?a=1&b=2"
VIDEO = {
    "id": "7304730473047304731", "desc": "a video", "createTime": "1700000000",
    "author": {"uniqueId": "a", "id": "1", "nickname": "A"}, "stats": {},
    "video": {"width": 576, "height": 1024, "duration": 3, "playAddr": FILE},
}
DATA = {"__DEFAULT_SCOPE__": {"webapp.video-detail": {"statusCode": 0, "itemInfo": {"itemStruct": VIDEO}}}}
PAGE = f'''<!DOCTYPE html><html><head><title>A video</title>
<script id="__UNIVERSAL_DATA_FOR_REHYDRATION__" type="application/json">{json.dumps(DATA)}</script>
</head><body></body></html>'''.encode()


def read_head(stream):
    data = b""
    while b"\r\n\r\n" not in data and len(data) < 65536:
        part = stream.recv(4096)
        if not part:
            return ""
        data += part
    return data.decode("latin-1").split("\r\n")[0]


def serve(stream, context):
    with stream:
        words = read_head(stream).split()
        if len(words) < 2 or words[0] != "CONNECT":
            return
        print(words[1], flush=True)
        stream.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
        with context.wrap_socket(stream, server_side=True) as inner:
            while read_head(inner):
                inner.sendall(
                    b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: %d\r\n\r\n" % len(PAGE) + PAGE)


def main():
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(sys.argv[1])
    listener = socket.create_server(("127.0.0.1", 0))
    print(listener.getsockname()[1], flush=True)

    def accept():
        while True:
            threading.Thread(target=serve, args=(listener.accept()[0], context), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    sys.stdin.read()


main()
