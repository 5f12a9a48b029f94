"""The wire of a relay in the standard library alone: RFC 6455 as far as the test relays beside this file need it."""

import base64
import hashlib
import struct

KEY_SUFFIX = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"  # RFC 6455
TEXT = 0x81
CLOSE = 8


def message(text):
    """An unmasked text frame, as servers send them."""
    payload = text.encode()
    if len(payload) < 126:
        length = bytes([len(payload)])
    elif len(payload) < 1 << 16:
        length = struct.pack(">BH", 126, len(payload))
    else:
        length = struct.pack(">BQ", 127, len(payload))
    return bytes([TEXT]) + length + payload


def next_message(stream):
    """Opcode and payload of the client's next frame; none after its end."""
    head = stream.read(2)
    if len(head) < 2:
        return CLOSE, b""
    length = head[1] & 127
    if length == 126:
        (length,) = struct.unpack(">H", stream.read(2))
    elif length == 127:
        (length,) = struct.unpack(">Q", stream.read(8))
    mask = stream.read(4)
    return head[0] & 15, bytes(byte ^ mask[index % 4] for index, byte in enumerate(stream.read(length)))


def shake_hands(connection):
    """Takes the client's upgrade; what it says then."""
    stream = connection.makefile("rb")
    key = ""
    while (line := stream.readline().decode().strip()):
        name, _, value = line.partition(":")
        if name.lower() == "sec-websocket-key":
            key = value.strip()
    accept = base64.b64encode(hashlib.sha1((key + KEY_SUFFIX).encode()).digest()).decode()
    connection.sendall(("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                        f"Sec-WebSocket-Accept: {accept}\r\n\r\n").encode())
    return stream
