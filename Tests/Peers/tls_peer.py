#!/usr/bin/env python3
"""A server that speaks TLS well, badly, or not at all, by the standard library. Listens on 127.0.0.1 until standard
input ends; prints its port first.

    tls_peer.py MODE [CERTIFICATE.pem] [--only VERSION] [--bytes N]

MODE is what it does to each connection:

    echo      sends back what comes, and answers a close_notify
    speak     says "hello " and "there" at once, in two records, and then echoes
    send      sends N bytes, 0 to 250 over and over, says close_notify and prints "closed" when that is answered
    trickle   echoes, and every byte of its TLS goes out by itself
    abrupt    sends back what comes first, and closes without close_notify
    spoilt    sends back what comes first, and then a record that nobody can have encrypted
    deaf      reads nothing after the handshake
    wants     wants a certificate of the client's
    cut       reads what comes first, sends 40 bytes of its answer, and closes
    plain     greets in plain HTTP
    silent    takes connections and says nothing
"""

import argparse
import socket
import ssl
import sys
import threading

VERSIONS = {"1.0": ssl.TLSVersion.TLSv1, "1.1": ssl.TLSVersion.TLSv1_1, "1.2": ssl.TLSVersion.TLSv1_2,
            "1.3": ssl.TLSVersion.TLSv1_3}


def make_context(options):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(options.certificate)
    context.set_alpn_protocols(["http/1.1"])
    if options.only:
        # What is older than 1.2 is off by default, and its ciphers with it.
        context.set_ciphers("DEFAULT:@SECLEVEL=0")
        context.minimum_version = context.maximum_version = VERSIONS[options.only]
    if options.mode == "wants":
        context.verify_mode = ssl.CERT_REQUIRED
        context.load_verify_locations(options.certificate)
    return context


def echo(stream):
    while data := stream.recv(1 << 16):
        stream.sendall(data)
    stream.unwrap()


def send(stream, count):
    pattern = bytes(range(251)) * 256
    for start in range(0, count, len(pattern)):
        stream.sendall(pattern[:count - start])
    stream.unwrap()
    print("closed", flush=True)


def by_hand(connection, context, cuts):
    """TLS over buffers: each byte goes out by itself, or 40 bytes and no more."""
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    stream = context.wrap_bio(incoming, outgoing, server_side=True)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    is_open = False
    while data := connection.recv(1 << 16):
        incoming.write(data)
        try:
            while True:
                if is_open:
                    stream.write(stream.read(1 << 16))
                else:
                    stream.do_handshake()
                    is_open = True
        except ssl.SSLWantReadError:
            pass
        output = outgoing.read()
        if cuts and output:
            connection.sendall(output[:40])
            return
        for position in range(len(output)):
            connection.sendall(output[position:position + 1])


def attend(connection, options):
    if options.mode == "silent":
        connection.recv(1 << 16)
        threading.Event().wait()
    if options.mode == "plain":
        connection.sendall(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")
        return
    context = make_context(options)
    if options.mode in ("trickle", "cut"):
        by_hand(connection, context, options.mode == "cut")
        return
    with context.wrap_socket(connection, server_side=True) as stream:
        if options.mode == "send":
            send(stream, options.bytes)
            return
        if options.mode == "deaf":
            threading.Event().wait()
        if options.mode == "speak":
            stream.sendall(b"hello ")
            stream.sendall(b"there")
        if options.mode in ("abrupt", "spoilt"):
            stream.sendall(stream.recv(1 << 16))
            if options.mode == "spoilt":
                socket.socket(fileno=stream.detach()).sendall(b"\x17\x03\x03\x00\x20" + bytes(32))
            return
        echo(stream)


def serve(connection, options):
    try:
        attend(connection, options)
    except (OSError, ssl.SSLError):
        pass  # The other side has left, or did not like what it saw.
    finally:
        connection.close()


def accept_all(listener, options):
    while True:
        connection, _ = listener.accept()
        threading.Thread(target=serve, args=(connection, options), daemon=True).start()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("mode")
    parser.add_argument("certificate", nargs="?")
    parser.add_argument("--only", choices=VERSIONS)
    parser.add_argument("--bytes", type=int, default=0)
    options = parser.parse_args()
    listener = socket.create_server(("127.0.0.1", 0))
    print(listener.getsockname()[1], flush=True)
    threading.Thread(target=accept_all, args=(listener, options), daemon=True).start()
    sys.stdin.read()


main()
