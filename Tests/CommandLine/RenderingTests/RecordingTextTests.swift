import Contracts
import Frames
import Recordings
import Testing

@testable import Rendering

@Suite struct RecordingTextTests {
  private let caller = Endpoint(seat: 3, turn: 1)

  private func frame(
    _ direction: RecordedFrame.Direction, _ header: FrameHeader, _ payload: String, isWithheld: Bool = false
  ) -> RecordedFrame {
    RecordedFrame(
      nanoseconds: 1_000_250_000, direction: direction, header: header, payload: Array(payload.utf8),
      isWithheld: isWithheld)
  }

  @Test("A frame is a line: number, time, direction, type, method, ids, payload; nothing in it drives a terminal")
  func lines() {
    var text = RecordingText(.plain)
    let request = FrameHeader(
      type: .request, flags: .atMostOnce, source: caller, id: 5, ttlMilliseconds: 900, attempt: 2, method: 256)
    #expect(
      text.line(7, frame(.toWorker, request, #"{ "limit": 2 }"#))
        == "   7   1.000250  → REQUEST  relay.request id 5 from 3.1 attempt 2 ttl 900ms AT_MOST_ONCE {\"limit\":2}")
    let raw = FrameHeader(type: .response, flags: [.raw, .more], destination: caller, re: 5)
    #expect(
      text.line(8, frame(.fromWorker, raw, "12345")).hasSuffix(
        "← RESPONSE re 5 to 3.1 MORE (5 B of the method's own layout)"))
    #expect(!text.line(9, frame(.fromWorker, FrameHeader(type: .status), "\u{1B}[2J")).contains("\u{1B}"))
    var header = FrameHeader(type: .request, id: 1, method: 999)
    header.payloadByteCount = 4_096
    #expect(
      text.line(10, frame(.toWorker, header, "", isWithheld: true)).hasSuffix("method 999 id 1 (4.0 KiB, secret)"))
  }

  @Test("Who asks stands in the line with the role that the hub wrote, own roles by the recording's registry")
  func callerRoles() {
    var text = RecordingText(.plain)
    var request = FrameHeader(type: .request, source: caller, id: 5, method: 256)
    request.callerRole = Role.client.number
    #expect(text.line(1, frame(.toWorker, request, "")).hasSuffix("relay.request id 5 from client 3.1"))
    request.callerRole = 64
    #expect(text.line(2, frame(.toWorker, request, "")).hasSuffix("from role 64 3.1"))
    let registry = Registry(methods: [:], topics: [:], roles: ["example": 64], members: [])
    let told = String(decoding: JSONPayload.encode(registry), as: UTF8.self)
    _ = text.line(3, frame(.toWorker, FrameHeader(type: .registry), told))
    #expect(text.line(4, frame(.toWorker, request, "")).hasSuffix("from example 3.1"))
    let object = String(decoding: text.object(5, frame(.toWorker, request, "")), as: UTF8.self)
    #expect(object.contains(#""callerRole":"example""#), "\(object)")
  }

  @Test("Names of people's own methods come from the recording itself")
  func names() {
    var text = RecordingText(.plain)
    let registry = Registry(
      methods: ["example.echo": .init(number: 0x4000, role: "example")], topics: ["example.news": 0x4001], roles: [:],
      members: [])
    let welcome = Welcome(endpoint: 4_097, frameLimit: 1 << 20, window: .standard, registry: registry)
    _ = text.line(
      1, frame(.toWorker, FrameHeader(type: .welcome), String(decoding: JSONPayload.encode(welcome), as: UTF8.self)))
    let echo = FrameHeader(type: .request, id: 1, method: 0x4000)
    #expect(text.line(2, frame(.toWorker, echo, "{}")).contains("example.echo id 1"))
    #expect(
      String(decoding: text.object(2, frame(.toWorker, echo, "{}")), as: UTF8.self)
        == #"{"frame":2,"nanoseconds":1000250000,"direction":"to-worker","type":"REQUEST","id":1,"method":16384,"#
        + #""methodName":"example.echo","bytes":2,"payload":{}}"#)
  }

  @Test("A difference is told with both frames, one below the other, and as an object")
  func difference() {
    var report = ReplayReport()
    report.outcome = .different
    report.frameCount = 22
    report.playedCount = 4
    report.difference = ReplayDifference(
      frame: 8, expected: frame(.fromWorker, FrameHeader(type: .response, re: 1), "{}"), got: nil,
      reason: "the program has ended: exit code 3")
    let names = RecordingText(.plain)
    #expect(
      ReplayText.lines(report, names: names, .plain) == [
        "different at frame 8 of 22: the program has ended: exit code 3.", "  expected  RESPONSE re 1 {}",
        "Before it: 4 frames played, 0 compared.",
      ])
    #expect(
      String(decoding: ReplayText.object(report, names: names), as: UTF8.self)
        == #"{"outcome":"different","frames":22,"played":4,"compared":0,"beyond":0,"frame":8,"#
        + #""reason":"the program has ended: exit code 3","expected":{"type":"RESPONSE","re":1,"bytes":2,"payload":{}}}"#
    )
    report = ReplayReport()
    report.beyondCount = 1
    #expect(
      ReplayText.lines(report, names: names, .plain) == [
        "identical: 0 frames played, 0 compared, 1 beyond the end of the recording."
      ])
  }
}
