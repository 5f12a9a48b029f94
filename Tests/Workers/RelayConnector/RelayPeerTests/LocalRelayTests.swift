import Addresses
import Clocks
import EventLoop
import Glibc
import Nostr
import RelaySession
import TestSupport
import Testing
import WebSocket

@Suite(
  .serialized,
  .enabled(if: PythonPeer.isAvailable, "no .venv at the repository's root: run Scripts/python-environment.sh"))
struct LocalRelayTests {
  private let own = (SharedFolder.bytes(ofFile: SharedFolder.repository + "/Tests/Peers/events.jsonl") ?? [])
    .split(separator: 10).map(Array.init)

  @Test("Stored events come back byte for byte as JSON values, then EOSE")
  func stored() async throws {
    let own = own
    try await LoopThread.run {
      let peer = try await PythonPeer("local_relay.py", [SharedFolder.repository + "/Tests/Peers/events.jsonl"])
      let shell = RelayShell(try RelayURL(peer.greeting))
      try shell.request(1, #"{"kinds":[1]}"#)
      try shell.request(2, #"[{"kinds":[1],"limit":3},{"kinds":[7]}]"#)
      try await eventually("both EOSE") { shell.ended.count == 2 || !shell.requestFailures.isEmpty }
      #expect(shell.requestFailures.isEmpty)
      #expect(shell.events[RequestKey(2)]?.count == 3)
      let received = try Set((shell.events[RequestKey(1)] ?? []).map(id))
      #expect(try received == Set(own.map(id)) && own.count == 24)
      #expect(shell.garbage.isEmpty && shell.session.counters.strayMessages == 0)
      #expect(shell.session.counters.lastLatencyMilliseconds != nil)
      try await end(shell, peer)
    }
  }

  @Test("A published event is accepted once, reaches a live request, and its duplicate says so")
  func published() async throws {
    let own = own
    try await LoopThread.run {
      let peer = try await PythonPeer("local_relay.py")
      let shell = RelayShell(try RelayURL(peer.greeting))
      try shell.request(1, #"{"kinds":[1]}"#, .live)
      try await eventually("EOSE") { shell.ended[RequestKey(1)] != nil }
      for (index, event) in own.enumerated() { try shell.publish(UInt64(index), event) }
      try await eventually("OK for all") { shell.answers.count == own.count }
      #expect(shell.answers.values.allSatisfy { $0.isAccepted })
      try await eventually("all live") { shell.events[RequestKey(1)]?.count == own.count }
      try shell.publish(100, own[0])
      try await eventually("the duplicate's OK") { shell.answers[PublishKey(100)] != nil }
      #expect(shell.answers[PublishKey(100)]?.reason.word == "duplicate")
      var forged = own[1]
      let content = try #require(forged.firstRange(of: Array(#""content":""#.utf8)))
      forged.insert(UInt8(ascii: "x"), at: content.upperBound)
      try shell.publish(101, forged)
      try await eventually("the forgery's OK") { shell.answers[PublishKey(101)] != nil }
      #expect(shell.answers[PublishKey(101)]?.isAccepted == false)
      try await end(shell, peer)
    }
  }

  @Test("When the relay dies, what was asked fails with words, and a new relay on the same port is found again")
  func dies() async throws {
    try await LoopThread.run {
      let peer = try await PythonPeer("local_relay.py")
      let url = try RelayURL(peer.greeting)
      let shell = RelayShell(url)
      shell.apply { $0.openRequested(at: $1) }
      try shell.request(1, #"{"kinds":[1]}"#, .live)
      try await eventually("EOSE") { shell.ended[RequestKey(1)] != nil }
      peer.kill()
      try await eventually("the failure") { shell.requestFailures[RequestKey(1)] != nil }
      #expect(shell.requestFailures[RequestKey(1)]?.code == .disconnected)
      try await peer.stop()
      let again = try await PythonPeer("local_relay.py", ["--port", "\(url.port)"])
      try shell.request(2, #"{"kinds":[1]}"#)
      try await eventually("EOSE of the next") { shell.ended[RequestKey(2)] != nil }
      #expect(shell.session.counters.connections == 2)
      try await end(shell, again)
    }
  }

  @Test("Events recorded in the wild go in and come out", .enabled(if: SharedFolder.has("events/valid.jsonl")))
  func wild() async throws {
    let lines = (SharedFolder.lines(of: "events/valid.jsonl") ?? []).filter { $0.count < 20_000 }.prefix(1_000)
    try await LoopThread.run {
      let peer = try await PythonPeer("local_relay.py")
      let shell = RelayShell(try RelayURL(peer.greeting))
      for (index, line) in lines.enumerated() {
        try shell.publish(UInt64(index), line)
        if index % 200 == 199 { try await eventually("a breath") { shell.session.publishCount == 0 } }
      }
      try await eventually(within: 60, "an OK for each") { shell.answers.count == lines.count }
      #expect(shell.publishFailures.isEmpty)
      let stored = shell.answers.values.count { $0.isAccepted }
      #expect(stored > lines.count / 2)
      try shell.request(1, #"{"limit":500}"#)
      try await eventually("EOSE") { shell.ended[RequestKey(1)] != nil }
      #expect((shell.events[RequestKey(1)] ?? []).count >= min(stored, 500) / 2)
      #expect(shell.garbage.isEmpty)
      try await end(shell, peer)
    }
  }
}

@EventLoopActor
private func end(_ shell: RelayShell, _ peer: PythonPeer) async throws {
  shell.apply { $0.closeRequested(at: $1) }
  try await eventually("closed") { shell.session.phase == .idle }
  try await peer.stop()
}

private func id(_ event: [UInt8]) throws -> EventID {
  try event.withUnsafeBytes { bytes throws(EventGlanceFault) in try EventGlance(bytes).id }
}

extension [UInt8] {
  fileprivate func firstRange(of needle: [UInt8]) -> Range<Int>? {
    indices.first { self[$0...].starts(with: needle) }.map { $0..<($0 + needle.count) }
  }
}
