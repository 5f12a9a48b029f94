import Clocks
import EventLoop
import TestSupport
import Testing

@testable import WebSocket

// One after the other: they share the one loop, and a heavy one would eat the deadlines of the rest.
@Suite(.serialized) struct ConnectingTests {
  @Test("An upgrade that comes byte by byte succeeds, and messages sent with the 101 are not lost")
  func slowly() async throws {
    try await LoopThread.run {
      let server = try ScriptedServer { peer in
        let bytes = Array(peer.response().utf8) + Frame.text(#"["AUTH","early"]"#).bytes + Frame.text("second").bytes
        EventLoopActor.task {
          for byte in bytes.dropLast(30) {
            peer.send([byte])
            peer.stream.flush()
            await Task.yield()
          }
          peer.send(Array(bytes.suffix(30)))
        }
      }
      let client = try await server.connect()
      // Nobody listens yet; nothing may be delivered or lost meanwhile.
      try await remains("nothing comes", forMilliseconds: 20) { client.messages.isEmpty }
      client.start()
      try await eventually("both messages") { client.messages.count == 2 }
      #expect(client.texts == [#"["AUTH","early"]"#, "second"])
      #expect(server.peers[0].request.hasPrefix("GET /inbox?a=b HTTP/1.1\r\n"))
      server.close()
    }
  }

  @Test("The 101 and the first messages in one piece are told apart")
  func together() async throws {
    try await LoopThread.run {
      let server = try ScriptedServer { peer in
        peer.send(Array(peer.response().utf8) + Frame.text("with the 101").bytes)
      }
      let client = try await server.connect()
      client.start()
      try await eventually("the message") { client.texts == ["with the 101"] }
      server.close()
    }
  }

  @Test(
    "Where only addresses of the internet are dialled, a name is held against what it resolves to",
    arguments: ["127.0.0.1", "localhost", "::ffff:127.0.0.1", "192.168.1.5"])
  func privateAddress(host: String) async throws {
    try await LoopThread.run {
      var limits = WebSocketLimits()
      limits.dialsGlobalAddressesOnly = true
      let endpoint = WebSocketEndpoint(host: host, port: 1, isSecure: false, requestTarget: "/")
      do {
        _ = try await WebSocketConnection.connect(to: endpoint, limits: limits)
        Issue.record("connected")
      } catch let fault as WebSocketFault {
        #expect(fault.code == .privateAddress && fault.detail.hasPrefix("\(host) resolves to "), "\(fault)")
      }
    }
  }

  @Test("A connection that has led where nobody wants to be is closed before a byte is sent")
  func unwanted() async throws {
    try await LoopThread.run {
      let server = try ScriptedServer { $0.send($0.response()) }
      var endpoint = server.endpoint
      let port = endpoint.port
      for host in ["127.0.0.1", "localhost"] {
        endpoint.host = host
        do {
          _ = try await WebSocketConnection.connect(to: endpoint) { peer, local in
            "\(peer)" == "127.0.0.1:\(port)" && local.host == "127.0.0.1" ? "that is us" : nil
          }
          Issue.record("connected")
        } catch let fault as WebSocketFault {
          let led = host == "localhost" ? "localhost leads to 127.0.0.1:\(port): " : ""
          #expect(fault.code == .unwantedAddress && fault.detail == led + "that is us", "\(fault)")
        }
      }
      #expect(server.peers.allSatisfy { $0.request.isEmpty })
      let client = Client(try await WebSocketConnection.connect(to: server.endpoint) { _, _ in nil })
      client.connection.close(code: 1000, reason: "")
      server.close()
    }
  }

  @Test("A server that asks to be left alone for a time is understood")
  func retryAfter() async throws {
    try await LoopThread.run {
      let server = try ScriptedServer { $0.send("HTTP/1.1 429 Too Many\r\nRetry-After: 90\r\n\r\n") }
      do {
        _ = try await server.connect()
        Issue.record("connected")
      } catch let fault as WebSocketFault {
        #expect(fault.retryAfterMilliseconds == 90_000)
      }
      server.close()
    }
  }

  @Test(
    "An answer that is no upgrade is a refusal that names itself",
    arguments: [
      ("HTTP/1.1 200 OK\r\n\r\n", "200 (OK)"),
      ("HTTP/1.1 301 Moved\r\nLocation: wss://elsewhere.example\r\n\r\n", "wss://elsewhere.example"),
      (
        "HTTP/1.1 101 X\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: x\r\n\r\n",
        "does not answer"
      ),
      ("220 mail.example.com ESMTP\r\n", "does not speak HTTP"),
    ])
  func refused(response: String, word: String) async throws {
    try await LoopThread.run {
      let server = try ScriptedServer { $0.send(response) }
      do {
        _ = try await server.connect()
        Issue.record("connected")
      } catch let fault as WebSocketFault {
        #expect(fault.code == .upgradeRefused && fault.description.contains(word), "\(fault)")
        #expect(fault.refusal != nil)
      }
      try await eventually("the server sees the end") { server.peers[0].hasEnded }
      server.close()
    }
  }

  @Test("A server that never answers costs the deadline, one that hangs up costs nothing")
  func silent() async throws {
    try await LoopThread.run {
      let silent = try ScriptedServer { _ in }
      let start = EventLoop.process.now
      await expectFault(.timedOut) {
        _ = try await silent.connect(deadlines: WebSocketDeadlines(handshakeMilliseconds: 80))
      }
      #expect(EventLoop.process.now.milliseconds(since: start) >= 80)
      silent.close()
      let cutting = try ScriptedServer { $0.stream.close() }
      await expectFault(.cut) { _ = try await cutting.connect() }
      cutting.close()
    }
  }

  @Test("A name that does not exist, a closed port and a missing cipher are told apart")
  func unreachable() async throws {
    try await LoopThread.run {
      await expectFault(.nameLookup) {
        let endpoint = WebSocketEndpoint(host: "no-such-host.invalid", port: 80, isSecure: false)
        _ = try await WebSocketConnection.connect(to: endpoint)
      }
      let server = try ScriptedServer { _ in }
      var endpoint = server.endpoint
      server.close()
      let closed = endpoint
      await expectFault(.unreachable) { _ = try await WebSocketConnection.connect(to: closed) }
      endpoint.isSecure = true
      let secure = endpoint
      await expectFault(.noEncryption) { _ = try await WebSocketConnection.connect(to: secure) }
    }
  }

  @Test("All addresses of a name are tried: localhost is reached on 127.0.0.1 alone")
  func addresses() async throws {
    try await LoopThread.run {
      let server = try ScriptedServer { $0.upgrade() }
      var endpoint = server.endpoint
      endpoint.host = "localhost"
      let client = Client(try await WebSocketConnection.connect(to: endpoint))
      client.start()
      client.connection.abort()
      server.close()
    }
  }
}

@EventLoopActor
func expectFault(_ code: WebSocketFault.Code, _ body: @EventLoopActor () async throws -> Void) async {
  do {
    try await body()
    Issue.record("no fault, expected \(code)")
  } catch let fault as WebSocketFault {
    #expect(fault.code == code, "\(fault)")
    #expect(fault.description.hasPrefix("ws"))
  } catch {
    Issue.record("\(error)")
  }
}
