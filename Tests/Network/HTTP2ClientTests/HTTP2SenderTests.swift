import Addresses
import HTTP2Client
import NIOHTTP2
import Synchronization
import TestSupport
import Testing

/// A sender to a scripted origin, on a loop of its own.
private struct Pair {
  let origin: ScriptedOrigin
  let sender: HTTP2Sender
  let loop = HTTP2Loop()

  init(
    _ manners: ScriptedOrigin.Manners = .init(), host: String = "localhost",
    settings: HTTP2SenderSettings = settings(), script: @escaping ScriptedOrigin.Script = ScriptedOrigin.yes
  ) async throws {
    origin = try await ScriptedOrigin(manners, script: script)
    sender = try HTTP2Sender(
      origin: HTTP2Origin(host: host, port: origin.port), settings: settings,
      trust: manners.isSecure ? .authorities(file: TestCertificates.path("authority")) : .cleartext, on: loop,
      resolve: loopback)
  }

  func stop() async {
    await origin.stop()
    await sender.close()
    await loop.stop()
  }

  /// Sends so many requests at once.
  func sendAll(_ count: Int, timeout: UInt64 = patience, body: [UInt8] = [1]) async -> [HTTP2Outcome] {
    await withTaskGroup(of: HTTP2Outcome.self) { [sender] group in
      for index in 0..<count {
        group.addTask { await sender.send(post("/\(index)", body: body, timeout: timeout)) }
      }
      var outcomes: [HTTP2Outcome] = []
      for await outcome in group { outcomes.append(outcome) }
      return outcomes
    }
  }
}

/// The defaults without the pause between connections, and what a test changes.
private func settings(_ change: (inout HTTP2SenderSettings) -> Void = { _ in }) -> HTTP2SenderSettings {
  var settings = HTTP2SenderSettings()
  settings.connectSpacingMilliseconds = 0
  // Beside hundreds of other tests a task may wait for its turn for a minute.
  settings.connectTimeoutMilliseconds = patience
  settings.livenessTimeoutMilliseconds = patience
  change(&settings)
  return settings
}

/// How long nothing is given up, in milliseconds.
private let patience: UInt64 = 1_200_000

@Sendable private func loopback(_: HTTP2Origin) -> HTTP2Resolution {
  .addresses(IPAddress("127.0.0.1").map { [$0] } ?? [])
}

@Sendable private func post(_ path: String, body: [UInt8] = [1], timeout: UInt64 = patience) -> HTTP2Request {
  HTTP2Request(
    method: "POST", path: path, headers: [HTTP2Header("x-a", "b")], body: body, timeoutMilliseconds: timeout)
}

private func status(_ outcome: HTTP2Outcome) -> Int? {
  if case .answered(let answer) = outcome { answer.status } else { nil }
}

private func unreachable(_ outcome: HTTP2Outcome) -> String? {
  if case .notSent(.unreachable(let reason, _)) = outcome { reason } else { nil }
}

@Suite("A sender over HTTP/2")
struct HTTP2SenderTests {
  @Test("sends a request as it is, and gives the answer as it is", arguments: ["localhost", "127.0.0.1"])
  func sendsAndAnswers(host: String) async throws {
    let pair = try await Pair(host: host) { arrival, connection in
      connection.answer(arrival.stream, 410, [("apns-id", "7")], body: Array("gone".utf8))
    }
    let body = [UInt8](repeating: 7, count: 4_096)
    let outcome = await pair.sender.send(post("/3/device/ab?c", body: body))
    let headers = [HTTP2Header("apns-id", "7")]
    #expect(outcome == .answered(HTTP2Answer(status: 410, headers: headers, body: Array("gone".utf8))))
    let arrival = try #require(pair.origin.arrivals.first)
    #expect(arrival.body == body)
    #expect(arrival.headers[":method"] == "POST" && arrival.headers[":path"] == "/3/device/ab?c")
    #expect(arrival.headers[":authority"] == "\(host):\(pair.origin.port)" && arrival.headers[":scheme"] == "https")
    #expect(arrival.headers["x-a"] == "b" && arrival.headers["content-length"] == "4096")
    await pair.stop()
  }

  @Test("makes one connection and one handshake for a thousand requests (46)")
  func reusesConnection() async throws {
    let pair = try await Pair(.init(streamMaximum: 1_000))
    let outcomes = await pair.sendAll(1_000)
    #expect(outcomes.allSatisfy { status($0) == 200 })
    #expect(pair.origin.connectionCount == 1)
    let counters = await pair.sender.counters()
    #expect(counters.handshakes == 1 && counters.streamsOpened == 1_000 && counters.answers == 1_000)
    #expect(counters.waiting == 0 && counters.inFlight == 0)
    await pair.stop()
  }

  @Test("opens no more streams than the origin allows now: 1, then 1 after an error, then 1,000 (46)")
  func obeysLiveMaximum() async throws {
    let pair = try await Pair(.init(streamMaximum: 1), settings: settings { $0.startsCautiously = true }) {
      arrival, connection in
      if arrival.stream == 1 { connection.allow(50) }
      if arrival.stream == 201 { connection.allow(1) }
      if arrival.stream == 301 { connection.allow(1_000) }
      connection.answer(arrival.stream, arrival.stream == 201 ? 403 : 200)
    }
    let outcomes = await pair.sendAll(400)
    #expect(outcomes.filter { status($0) == 200 }.count == 399)
    // The origin refuses a stream too many; so none was opened.
    let counters = await pair.sender.counters()
    #expect(counters.resets == 0 && counters.resent == 0)
    #expect(pair.origin.connectionCount == 1)
    await pair.stop()
  }

  @Test("after a GOAWAY sends again what was left behind, and nothing twice that was not (45)")
  func survivesGoodbye() async throws {
    let count = Mutex(0)
    let pair = try await Pair { arrival, connection in
      guard connection.number == 0 else { return connection.answer(arrival.stream, 200) }
      let arrived = count.withLock { count in
        count += 1
        return count
      }
      // Ten have come: the first five are acted on, the others never.
      guard arrived == 10 else { return }
      connection.sayGoodbye(last: 9, debug: #"{"reason":"Shutdown"}"#)
      for stream in stride(from: 1, through: 9, by: 2) { connection.answer(stream, 200) }
    }
    let outcomes = await pair.sendAll(10)
    #expect(outcomes.allSatisfy { status($0) == 200 })
    let arrivals = pair.origin.arrivals
    #expect(arrivals.filter { $0.connection == 0 }.count == 10 && arrivals.filter { $0.connection == 1 }.count == 5)
    let kept = arrivals.filter { $0.connection == 0 && $0.stream <= 9 }.compactMap { $0.headers[":path"] }
    let again = arrivals.filter { $0.connection == 1 }.compactMap { $0.headers[":path"] }
    #expect(Set(kept).isDisjoint(with: again))
    let counters = await pair.sender.counters()
    #expect(counters.connectsBegun == 2 && counters.resent == 5 && counters.goAways == 1)
    #expect(counters.lastEnd?.contains("Shutdown") == true)
    await pair.stop()
  }

  @Test(
    "repeats of a goodbye what is a word, and nothing else (45)",
    arguments: [
      (#"{"reason":"Shutdown"}"#, "Shutdown"), (#"{ "timestamp" : 1, "reason" : "IdleTimeout" }"#, "IdleTimeout"),
      (#"{"reason":"token 00ff00ff"}"#, nil), (#"{"reason":"a\nb"}"#, nil), ("<html>00ff00ff", nil),
    ] as [(String, String?)])
  func repeatsWords(debug: String, word: String?) async throws {
    let pair = try await Pair { arrival, connection in
      connection.answer(arrival.stream, 200)
      if connection.number == 0 { connection.sayGoodbye(last: arrival.stream, debug: debug) }
    }
    #expect(status(await pair.sender.send(post("/"))) == 200)
    try await awaitPatiently("the origin says goodbye") { await pair.sender.counters().goAways > 0 }
    let end = await pair.sender.counters().lastEnd ?? ""
    #expect(end == "the origin said goodbye: " + (word ?? "for no reason that is a word"))
    await pair.stop()
  }

  @Test("sends a refused stream again once, and then says that it was not sent")
  func resendsRefused() async throws {
    let pair = try await Pair { arrival, connection in
      if arrival.headers[":path"] == "/never" || arrival.stream == 1 {
        connection.reset(arrival.stream, .refusedStream)
      } else {
        connection.answer(arrival.stream, 200)
      }
    }
    #expect(status(await pair.sender.send(post("/once"))) == 200)
    #expect(await pair.sender.send(post("/never")) == .notSent(.refused))
    await pair.stop()
  }

  @Test("keeps the connection of an origin that resets every stream, thousands of them")
  func bearsResets() async throws {
    let pair = try await Pair(.init(streamMaximum: 1_000)) { arrival, connection in
      connection.reset(arrival.stream, .internalError)
    }
    for _ in 0..<3 {
      let outcomes = await pair.sendAll(4_000)
      #expect(outcomes.allSatisfy { $0 == .unknown(.reset(code: 2)) })
    }
    #expect(pair.origin.connectionCount == 1)
    await pair.stop()
  }

  @Test("says of a stream that was reset, and of a connection that was cut, that nobody knows (47)")
  func admitsDoubt() async throws {
    let pair = try await Pair { arrival, connection in
      if arrival.headers[":path"] == "/cut" { return connection.cut() }
      connection.reset(arrival.stream, .internalError)
    }
    #expect(await pair.sender.send(post("/reset")) == .unknown(.reset(code: 2)))
    guard case .unknown(.connectionLost) = await pair.sender.send(post("/cut")) else {
      Issue.record("not unknown")
      return
    }
    await pair.stop()
  }

  @Test("lets a slow answer delay nobody else")
  func delaysNobody() async throws {
    let slow = Mutex<(OriginConnection, Int)?>(nil)
    let pair = try await Pair { arrival, connection in
      if arrival.headers[":path"] == "/slow" {
        slow.withLock { $0 = (connection, arrival.stream) }
      } else {
        connection.answer(arrival.stream, 200)
      }
    }
    async let late = pair.sender.send(post("/slow"))
    let outcomes = await pair.sendAll(50)
    #expect(outcomes.allSatisfy { status($0) == 200 })
    try await awaitPatiently("the slow one has begun") { slow.withLock { $0 != nil } }
    slow.withLock { $0?.0.answer($0?.1 ?? 0, 201) }
    #expect(status(await late) == 201)
    await pair.stop()
  }

  @Test("sends a body larger than the origin's window, and reads answers larger than its own")
  func controlsFlow() async throws {
    let pair = try await Pair(.init(windowByteCount: 1_000)) { arrival, connection in
      connection.answer(arrival.stream, 200, body: [UInt8](repeating: 9, count: 60_000))
    }
    let outcomes = await pair.sendAll(20, body: [UInt8](repeating: 5, count: 50_000))
    for outcome in outcomes {
      guard case .answered(let answer) = outcome else {
        Issue.record("\(outcome)")
        continue
      }
      #expect(answer.body.count == 60_000 && !answer.isBodyCut)
    }
    #expect(pair.origin.arrivals.allSatisfy { $0.body.count == 50_000 })
    await pair.stop()
  }

  @Test("keeps the beginning of an answer that is too long, and goes on with others")
  func cutsLongAnswer() async throws {
    let pair = try await Pair { arrival, connection in
      connection.answer(arrival.stream, 500, body: [UInt8](repeating: 1, count: 500_000))
    }
    for _ in 0..<3 {
      guard case .answered(let answer) = await pair.sender.send(post("/")) else {
        Issue.record("no answer")
        return
      }
      #expect(answer.isBodyCut && answer.body.count == 65_536 && answer.status == 500)
    }
    #expect(pair.origin.connectionCount == 1)
    await pair.stop()
  }

  @Test("bounds an origin that takes the connection and never says a word (47)")
  func boundsSilence() async throws {
    let pair = try await Pair(.init(isSilent: true), settings: settings { $0.connectTimeoutMilliseconds = 100 })
    let reason = unreachable(await pair.sender.send(post("/")))
    #expect(reason?.contains("no connection within 100 ms") == true)
    #expect(await pair.sender.counters().connectsFailed == 1)
    await pair.stop()
  }

  @Test("bounds an origin that takes requests and never answers (47)")
  func boundsNoAnswer() async throws {
    let pair = try await Pair(.init(streamMaximum: 2)) { arrival, connection in
      if arrival.headers[":path"] == "/first" { connection.answer(arrival.stream, 200) }
    }
    #expect(status(await pair.sender.send(post("/first"))) == 200)
    let outcomes = await pair.sendAll(4, timeout: 200)
    #expect(outcomes.filter { $0 == .unknown(.timedOut) }.count >= 2)
    #expect(outcomes.allSatisfy { $0 == .unknown(.timedOut) || $0 == .notSent(.timedOut) })
    await pair.stop()
  }

  @Test("asks for a sign of life, and goes on while it gets one")
  func pings() async throws {
    // However long this waits for its turn: an origin that is asked oftener than 200 times in 30 seconds hangs up.
    let pair = try await Pair(settings: settings { $0.idlePingMilliseconds = 500 })
    #expect(status(await pair.sender.send(post("/"))) == 200)
    try await awaitPatiently("three signs of life are asked for") { pair.origin.state.withLock { $0.pings } >= 3 }
    #expect(status(await pair.sender.send(post("/"))) == 200)
    #expect(pair.origin.connectionCount == 1)
    await pair.stop()
  }

  @Test("closes a connection that is idle for long, and makes another when it must")
  func closesIdle() async throws {
    let pair = try await Pair(settings: settings { $0.idleCloseMilliseconds = 5 })
    #expect(status(await pair.sender.send(post("/"))) == 200)
    try await awaitPatiently("the connection is closed") { await pair.sender.counters().lastEnd != nil }
    #expect(status(await pair.sender.send(post("/"))) == 200)
    #expect(pair.origin.connectionCount == 2)
    await pair.stop()
  }

  @Test(
    "trusts no certificate but the right one, and no name that is only a common one (47)",
    arguments: ["self", "stranger", "expired", "future", "other", "named"])
  func trustsRightCertificate(certificate: String) async throws {
    let pair = try await Pair(.init(certificate: certificate))
    let reason = unreachable(await pair.sender.send(post("/")))
    #expect(reason?.hasPrefix("TLS: ") == true, "\(reason ?? "it was sent")")
    // In words, and not in those of a library.
    #expect(reason?.contains("certificate") == true && reason?.contains("(") == false, "\(reason ?? "it was sent")")
    #expect(pair.origin.arrivals.isEmpty)
    await pair.stop()
  }

  @Test("wants HTTP/2 by ALPN", arguments: [["http/1.1"], []])
  func wantsHTTP2(protocols: [String]) async throws {
    let pair = try await Pair(.init(protocols: protocols))
    let reason = unreachable(await pair.sender.send(post("/")))
    #expect(reason == "the far side does not speak HTTP/2")
    await pair.stop()
  }

  @Test("dials the address that its owner gave and no other, and none that is forbidden")
  func dialsGivenAddress() async throws {
    let origin = try await ScriptedOrigin()
    let loop = HTTP2Loop()
    let authority = try TestCertificates.path("authority")
    func outcome(_ resolution: HTTP2Resolution) async throws -> HTTP2Outcome {
      let sender = try HTTP2Sender(
        origin: HTTP2Origin(host: "localhost", port: origin.port), settings: settings(),
        trust: .authorities(file: authority), on: loop,
        resolve: { _ in resolution })
      let outcome = await sender.send(post("/"))
      await sender.close()
      return outcome
    }
    #expect(try await outcome(.forbidden("private")) == .notSent(.forbidden("private")))
    #expect(unreachable(try await outcome(.failed("no such name"))) == "no address: no such name")
    #expect(unreachable(try await outcome(.addresses([]))) != nil)
    // Nobody listens on the second address; the first of the two that does is taken.
    let addresses = ["127.0.0.2", "127.0.0.1"].compactMap { IPAddress($0) }
    #expect(status(try await outcome(.addresses(addresses))) == 200)
    #expect(unreachable(try await outcome(.addresses(Array(addresses.prefix(1))))) != nil)
    await origin.stop()
    await loop.stop()
  }

  @Test("speaks without TLS to loopback only")
  func speaksCleartextToLoopback() async throws {
    let pair = try await Pair(.init(isSecure: false))
    #expect(status(await pair.sender.send(post("/"))) == 200)
    let sender = try HTTP2Sender(
      origin: HTTP2Origin(host: "localhost", port: pair.origin.port), trust: .cleartext, on: pair.loop,
      resolve: { _ in .addresses(IPAddress("192.0.2.1").map { [$0] } ?? []) })
    #expect(unreachable(await sender.send(post("/"))) == "no address that may be dialled")
    await sender.close()
    await pair.stop()
  }

  @Test("says when its authorities cannot be read")
  func saysWhenAuthoritiesAreMissing() {
    let loop = HTTP2Loop()
    #expect(throws: HTTP2TrustFault.self) {
      _ = try HTTP2Sender(
        origin: HTTP2Origin(host: "localhost"), trust: .authorities(file: "/nowhere.pem"), on: loop, resolve: loopback)
    }
  }

  @Test(
    "does not send a request that would break the connection",
    arguments: [
      HTTP2Request(method: "", path: "/"), HTTP2Request(method: "GE T", path: "/"),
      HTTP2Request(method: "GET", path: ""),
      HTTP2Request(method: "GET", path: "a"), HTTP2Request(method: "GET", path: "/a b"),
      HTTP2Request(method: "GET", path: "/", headers: [HTTP2Header("Upper", "a")]),
      HTTP2Request(method: "GET", path: "/", headers: [HTTP2Header(":path", "a")]),
      HTTP2Request(method: "GET", path: "/", headers: [HTTP2Header("a", "b\r\nc: d")]),
      HTTP2Request(method: "GET", path: "/", headers: [HTTP2Header("connection", "close")]),
      HTTP2Request(method: "GET", path: "/", headers: [HTTP2Header("a", String(repeating: "b", count: 17_000))]),
      HTTP2Request(method: "POST", path: "/", body: [UInt8](repeating: 0, count: 65_537)),
    ])
  func refusesMalformed(request: HTTP2Request) async throws {
    let loop = HTTP2Loop()
    let sender = try HTTP2Sender(
      origin: HTTP2Origin(host: "localhost"), trust: .cleartext, on: loop, resolve: { _ in .failed("unused") })
    guard case .notSent(.malformed) = await sender.send(request) else {
      Issue.record("it was sent")
      return
    }
    await sender.close()
    await loop.stop()
  }
}
