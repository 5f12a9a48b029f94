import EventLoop
import TestSupport
import Testing
import WebSocket

@testable import HTTPClient

// One after the other: they share the one loop, and each has a server of its own.
@Suite("What goes wrong while fetching", .serialized)
struct FaultTests {
  @Test("An answer that comes byte by byte is one, and so is one behind an interim head")
  func trickle() async throws {
    let text = "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 200 OK\r\nX-A:b\r\nContent-Length: 3\r\n\r\nabc"
    let server = try ScriptedRelay(
      RelayStep("trickle") { peer in
        _ = try peer.readRequest()
        for byte in text.utf8 { try peer.send([byte]) }
      })
    try await LoopThread.run {
      let answer = try await HTTPClient.forTests().get(server.httpURL)
      #expect(answer.status == 200 && answer.body == Array("abc".utf8))
      #expect(answer.fields.map(\.name) == ["X-A", "Content-Length"])
    }
  }

  @Test(
    "A server that speaks something else, or leaves too early, is told as that",
    arguments: [
      ("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc", HTTPFault.Code.cut, "in the middle of the answer"),
      ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab", .cut, "in the middle of the answer"),
      ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nab", .cut, "in the middle of the answer"),
      ("", .cut, "closed the connection without an answer"),
      ("SSH-2.0-OpenSSH_9.2\r\n", .badAnswer, "does not answer as HTTP does"),
      ("HTTP/1.1 2x0 no\r\n\r\n", .badAnswer, "does not answer as HTTP does"),
    ])
  func strange(text: String, code: HTTPFault.Code, words: String) async throws {
    let server = try ScriptedRelay(.answer(text), .hangUp)
    try await LoopThread.run {
      let fault = await (try HTTPClient.forTests()).fault(server.httpURL)
      #expect(fault?.code == code && fault?.detail.contains(words) == true, "\(fault?.description ?? "")")
    }
  }

  @Test("A server that resets the connection, or never takes one, is told as that")
  func unreachable() async throws {
    let resetting = try ScriptedRelay(.reset)
    let gone = try ScriptedRelay(.reset).httpURL
    try await LoopThread.run {
      let client = try HTTPClient.forTests()
      let reset = await client.fault(resetting.httpURL)
      #expect(reset?.code == .cut || reset?.code == .unreachable, "it depends on who was faster")
      let fault = await client.fault(gone)
      #expect(fault?.code == .unreachable)
      #expect(fault?.detail.hasSuffix(": Connection refused") == true, "\(fault?.detail ?? "")")
      let unknown = await client.fault("http://no-such-host.invalid/")
      #expect(unknown?.code == .nameLookup && unknown?.detail.hasPrefix("no-such-host.invalid was not found") == true)
    }
  }

  @Test("An answer that never comes, or never ends, costs the deadline; so does the turn that never comes")
  func late() async throws {
    let silent = try ScriptedRelay(.hold("never"))
    let endless = try ScriptedRelay(.answer("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc"), .hold("never"))
    try await LoopThread.run {
      var limits = HTTPClientLimits()
      limits.connectionMaximum = 1
      let client = try HTTPClient.forTests(limits)
      for server in [silent, endless] {
        let fault = await client.fault(server.httpURL) { $0.totalMilliseconds = 50 }
        #expect(fault?.code == .timedOut && fault?.detail.contains("not answered in full within 50 ms") == true)
      }
      let running = EventLoopActor.task {
        await client.fault(silent.httpURL)?.code
      }
      try await eventually("it runs") { silent.visits.count == 2 }
      let waiting = await client.fault(silent.httpURL) { $0.totalMilliseconds = 50 }
      #expect(waiting?.code == .timedOut && waiting?.detail.contains("waited 50 ms for requests before it") == true)
      running.cancel()
      #expect(await running.value == .cancelled)
    }
  }

  @Test("A request ends when its task is cancelled: before it is sent, while it waits, and while it is answered")
  func cancellation() async throws {
    let silent = try ScriptedRelay(.hold("never"))
    try await LoopThread.run {
      let client = try HTTPClient.forTests()
      let early = EventLoopActor.task {
        withUnsafeCurrentTask { $0?.cancel() }
        return await client.fault(silent.httpURL)?.code
      }
      #expect(await early.value == .cancelled && silent.visits.isEmpty)
      let task = EventLoopActor.task {
        await client.fault(silent.httpURL)?.code
      }
      try await eventually("the server is asked") { silent.visits.first?.request.isEmpty == false }
      task.cancel()
      #expect(await task.value == .cancelled)
      try await eventually("the connection is closed") { silent.visits.first?.isOver == true }
    }
  }

  @Test("What strangers name is not dialled in this house, however it is written, nor reached by a kept connection")
  func privateAddresses() async throws {
    let peer = try HTTPPeer()
    try await LoopThread.run {
      let client = try HTTPClient.forTests()
      #expect(try await client.get(peer.url + "/hello").status == 200, "a connection to it is kept now")
      let port = peer.url.split(separator: ":").last ?? ""
      for (host, words) in [
        ("127.0.0.1", "resolves to 127.0.0.1, a loopback address"), ("localhost", ", a loopback address"),
        ("[::ffff:127.0.0.1]", ", a loopback address"), ("127.1", "resolves to 127.0.0.1, a loopback address"),
        ("10.1.2.3", "resolves to 10.1.2.3, a private address"), ("0.0.0.0", ", an unspecified address"),
        ("169.254.169.254", ", a link-local address"), ("[fe80::1]", ", a link-local address"),
      ] {
        let fault = await client.fault("http://\(host):\(port)/hello") { $0.dialsGlobalAddressesOnly = true }
        #expect(fault?.code == .privateAddress && fault?.detail.contains(words) == true, "\(fault?.description ?? "")")
      }
      let connections = try await client.get(peer.url + "/connections").body
      #expect(String(decoding: connections, as: UTF8.self) == "1")
    }
  }
}
