import EventLoop
import TestSupport
import Testing
import WebSocket

@testable import HTTPClient

// One after the other: they share the one loop, and each has a server of its own.
@Suite("Fetching", .serialized)
struct FetchTests {
  @Test("An answer of any status is one, with its fields and its body")
  func statuses() async throws {
    let peer = try HTTPPeer()
    try await LoopThread.run {
      let client = try HTTPClient.forTests()
      #expect(!client.isHoldingConnections, "nothing is held before the first request")
      let hello = try await client.get(peer.url + "/hello")
      #expect(hello.status == 200 && hello.body == Array("hello".utf8))
      #expect(hello[field: "content-type"] == "text/plain")
      for status in [201, 204, 304, 400, 404, 429, 500, 503] {
        #expect(try await client.get(peer.url + "/status/\(status)").status == status)
      }
    }
  }

  @Test("What is sent is the caller's fields and body, and nothing that names a person or a machine")
  func sending() async throws {
    let peer = try HTTPPeer()
    try await LoopThread.run {
      let client = try HTTPClient.forTests()
      let host = peer.url.dropFirst(7)
      let get = try await client.get(peer.url + "/echo?a=b") {
        $0.fields = [HTTPField("Accept", "application/nostr+json"), HTTPField("X-Empty", "")]
      }
      #expect(
        String(decoding: get.body, as: UTF8.self)
          == #"{"body": "", "fields": {"accept": "application/nostr+json", "accept-encoding": "gzip", "host": "\#(host)", "#
          + #""x-empty": ""}, "method": "GET", "path": "/echo?a=b"}"#)
      for body: [UInt8] in [[], [0, 1, 255], [UInt8](repeating: 7, count: HTTPRequest.bodyByteCountMaximum)] {
        let fields = [HTTPField("Content-Type", "application/octet-stream")]
        var request = HTTPRequest(.post, peer.url + "/echo", fields: fields, body: body)
        request.answerByteCountMaximum = 4 << 20
        let answer = String(decoding: try await client.send(request).body, as: UTF8.self)
        let digits = body.count > 3 ? String(repeating: "07", count: body.count) : body.isEmpty ? "" : "0001ff"
        #expect(answer.contains("\"body\": \"\(digits)\"") && answer.contains("\"method\": \"POST\""))
        #expect(!answer.contains("expect") && answer.contains("application/octet-stream"))
      }
    }
  }

  @Test("A body may have as many bytes as wanted and not one more, announced, in chunks or compressed")
  func lengths() async throws {
    let peer = try HTTPPeer()
    try await LoopThread.run {
      let client = try HTTPClient.forTests()
      for way in ["bytes", "chunks", "gzip"] {
        let whole = try await client.get(peer.url + "/\(way)/5000") { $0.answerByteCountMaximum = 5_000 }
        #expect(whole.body.count == 5_000, "\(way)")
        let fault = await client.fault(peer.url + "/\(way)/5001") { $0.answerByteCountMaximum = 5_000 }
        #expect(fault?.code == .tooLarge && fault?.detail == "the answer has more than 5000 bytes", "\(way)")
        let none = await client.fault(peer.url + "/\(way)/1") { $0.answerByteCountMaximum = 0 }
        #expect(none?.code == .tooLarge, "\(way)")
      }
      // 100 MB in 100 KB.
      let bomb = await client.fault(peer.url + "/gzip/100000000")
      #expect(bomb?.code == .tooLarge)
      let head = await client.fault(peer.url + "/head/40000")
      #expect(head?.code == .tooLarge && head?.detail.contains("head") == true)
      #expect(try await client.get(peer.url + "/head/20000").fields.count > 20)
    }
  }

  @Test("An encoding that was not asked for, or is not what it says, is no answer")
  func encodings() async throws {
    let peer = try HTTPPeer()
    try await LoopThread.run {
      let client = try HTTPClient.forTests()
      for name in ["br", "zstd", "deflate", "gzip,gzip", "compress"] {
        let fault = await client.fault(peer.url + "/coded/\(name)")
        #expect(fault?.code == .badAnswer && fault?.detail.contains("encoded as \"\(name)\"") == true, "\(name)")
      }
      #expect(await client.fault(peer.url + "/not-gzip")?.code == .badAnswer)
      let chunked = try ScriptedRelay(.answer("HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n"))
      #expect(await client.fault(chunked.httpURL)?.code == .badAnswer)
    }
  }

  @Test("A redirect is not followed, and the fault names where it points, harmless to a terminal")
  func redirects() async throws {
    let peer = try HTTPPeer()
    try await LoopThread.run {
      let fault = await (try HTTPClient.forTests()).fault(peer.url + "/redirect")
      #expect(fault?.code == .redirected && fault?.location == "https://elsewhere.example/?[2J")
      #expect(
        fault?.detail.contains("answered 301 and points to \"https://elsewhere.example/?[2J\", which is not followed")
          == true, "\(fault?.detail ?? "")")
    }
  }

  @Test("Two hundred requests share few connections, and all are answered")
  func many() async throws {
    let peer = try HTTPPeer()
    try await LoopThread.run {
      let client = try HTTPClient.forTests()
      let tasks = (0..<200).map { number in
        EventLoopActor.task {
          do throws(HTTPFault) { return try await client.get(peer.url + "/bytes/\(number)").body.count } catch {
            Issue.record(error)
            return -1
          }
        }
      }
      var counts: [Int] = []
      for task in tasks { counts.append(await task.value) }
      #expect(counts == Array(0..<200))
      let connections = try await client.get(peer.url + "/connections").body
      let count = Int(String(decoding: connections, as: UTF8.self)) ?? .max
      #expect(count <= HTTPClientLimits().connectionPerHostMaximum + 1, "\(count)")
    }
  }

  @Test("More requests than the client may hold are refused at once, and those in hand go on")
  func full() async throws {
    let silent = try ScriptedRelay(.hold("now"))
    try await LoopThread.run {
      var limits = HTTPClientLimits()
      limits.requestMaximum = 3
      let client = try HTTPClient.forTests(limits)
      let tasks = (0..<3).map { _ in
        EventLoopActor.task { await client.fault(silent.httpURL)?.code }
      }
      try await eventually("all three are in hand") { client.requestCount == 3 }
      #expect(await client.fault(silent.httpURL)?.code == .full)
      for task in tasks { task.cancel() }
      for task in tasks { #expect(await task.value == .cancelled) }
    }
  }

  @Test("A client that is not used gives back its connections, and can be used again")
  func idle() async throws {
    let peer = try HTTPPeer()
    try await LoopThread.run {
      var limits = HTTPClientLimits()
      limits.idleMilliseconds = 1
      let client = try HTTPClient.forTests(limits)
      for _ in 0..<3 {
        _ = try await client.get(peer.url + "/hello")
        try await eventually("nothing is held") { !client.isHoldingConnections }
      }
    }
  }
}
