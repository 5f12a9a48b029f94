import Clocks
import Frames
import Testing

@testable import Recordings

/// A program on the bench: what it is sent, and what comes of it.
struct ReplayBench {
  var replay: Replay
  var now = Instant(nanoseconds: 1_000_000_000)
  var sent: [(header: FrameHeader, payload: [UInt8])] = []
  var report: ReplayReport?

  init(
    _ frames: [(RecordedFrame.Direction, FrameHeader, String)], isPaced: Bool = false, answersOnly: Bool = false,
    end: RecordingEnd? = nil
  ) throws {
    var settings = ReplaySettings()
    settings.isPaced = isPaced
    settings.comparesAnswersOnly = answersOnly
    var recording = try Samples.recording(frames)
    if let end { recording.records.append(.end(nanoseconds: 0, end)) }
    replay = try Replay(recording, settings, now: now)
  }

  var sentTypes: [FrameType] { sent.map(\.header.type) }

  mutating func send(_ header: FrameHeader, _ text: String = "") {
    perform(replay.received(header, Array(text.utf8), now: now))
  }

  mutating func start() {
    send(FrameHeader(type: .hello), String(decoding: Samples.hello(), as: UTF8.self))
    send(FrameHeader(type: .ready))
  }

  mutating func pong() { send(FrameHeader(type: .pong, re: .max)) }

  mutating func pass(milliseconds: UInt64) {
    now = now.advanced(milliseconds: milliseconds)
    perform(replay.timerFired(now: now))
  }

  mutating func perform(_ actions: [Replay.Action]) {
    for action in actions {
      switch action {
      case .send(let header, let payload): sent.append((header, payload))
      case .finished(let report): self.report = report
      }
    }
  }
}

@Suite("A replay")
struct ReplayTests {
  @Test("of a recording in which no role of a caller stands takes it from the registries that stand there")
  func olderRecording() throws {
    let registry = Registry(
      methods: [:], topics: [:], roles: ["client": 1, "example": 64],
      members: [.init(name: "mine", role: "example", endpoint: Endpoint(seat: 9, turn: 1).rawValue, isReady: true)])
    var stamped = Samples.request(8)
    stamped.callerRole = 4
    var bench = try ReplayBench(
      Samples.start + [
        (.toWorker, Samples.request(5), "a"),
        (.toWorker, FrameHeader(type: .registry), String(decoding: JSONPayload.encode(registry), as: UTF8.self)),
        (.toWorker, Samples.request(6), "b"), (.toWorker, FrameHeader(type: .request, id: 7), "c"),
        (.toWorker, stamped, "d"), (.toWorker, FrameHeader(type: .cancel, source: Samples.caller, re: 6), ""),
      ])
    bench.start()
    let asked = bench.sent.filter { $0.header.type == .request }
    #expect(asked.map(\.header.callerRole) == [1, 64, 0, 4])
    #expect(bench.sent.first { $0.header.type == .cancel }?.header.re == 6)
  }

  @Test("plays each frame only after the worker's frames before it, and finds the same answers identical")
  func identical() throws {
    var bench = try ReplayBench(
      Samples.start + [
        (.toWorker, Samples.request(5), "a"), (.fromWorker, Samples.answer(5), "A"),
        (.toWorker, Samples.request(6), "b"), (.fromWorker, Samples.answer(6), "B"),
      ])
    #expect(bench.sent.isEmpty)
    bench.send(FrameHeader(type: .hello), #"{"role":"example","pid":99,"version":"2","more":1,"name":"example"}"#)
    #expect(bench.sentTypes == [.welcome])
    bench.send(FrameHeader(type: .ready))
    #expect(bench.sentTypes == [.welcome, .request])
    bench.send(Samples.answer(5), "A")
    #expect(bench.sentTypes == [.welcome, .request, .request])
    bench.send(FrameHeader(type: .status), "anything")
    bench.send(Samples.answer(6), "B")
    #expect(bench.sentTypes.last == .ping && bench.report == nil)
    bench.pong()
    #expect(bench.report?.outcome == .identical)
    #expect(bench.report?.comparedCount == 4 && bench.report?.playedCount == 3)
  }

  @Test("is no replay of what a program that ends early was not sent, although all that was recorded of it has come")
  func endsEarly() throws {
    var bench = try ReplayBench(Samples.start + [(.toWorker, Samples.request(5), "a")], isPaced: true)
    bench.start()
    bench.perform(bench.replay.programEnded("exit code 1", isClean: false))
    #expect(bench.report?.outcome == .different && bench.report?.playedCount == 0)
    #expect(bench.report?.difference?.frame == 2)
    #expect(bench.report?.difference?.reason.contains("exit code 1") == true)
  }

  @Test("takes answers to different requests in any order, and the parts of one in theirs")
  func strands() throws {
    let script: [(RecordedFrame.Direction, FrameHeader, String)] =
      Samples.start + [
        (.toWorker, Samples.request(5), "a"), (.toWorker, Samples.request(6), "b"),
        (.fromWorker, Samples.answer(5, flags: .more), "1"), (.fromWorker, Samples.answer(6), "B"),
        (.fromWorker, Samples.answer(5, flags: .more), "2"), (.fromWorker, Samples.answer(5), "3"),
      ]
    var bench = try ReplayBench(script)
    bench.start()
    bench.send(Samples.answer(6), "B")
    for (text, flags) in [("1", .more), ("2", .more), ("3", [])] as [(String, FrameFlags)] {
      bench.send(Samples.answer(5, flags: flags), text)
    }
    bench.pong()
    #expect(bench.report?.outcome == .identical)

    var other = try ReplayBench(script)
    other.start()
    other.send(Samples.answer(5, flags: .more), "2")
    #expect(other.report?.outcome == .different)
    #expect(other.report?.difference?.frame == 6)
    #expect(other.report?.difference?.reason.contains("payload") == true)
  }

  @Test(
    "tells the first difference with its number and in words",
    arguments: [
      (Samples.answer(5), "B", "byte 0"), (Samples.answer(5, .error), "A", "ERROR, not RESPONSE"),
      (Samples.answer(5, flags: .raw), "A", "'flags'"), (Samples.answer(4), "A", "no such frame"),
      (FrameHeader(type: .event, id: 1, method: 3), "A", "no such frame"),
      (FrameHeader(type: .fatal), "A", "no such frame"),
    ])
  func differences(header: FrameHeader, text: String, reason: String) throws {
    var bench = try ReplayBench(
      Samples.start + [(.toWorker, Samples.request(5), "a"), (.fromWorker, Samples.answer(5), "A")])
    bench.start()
    bench.send(header, text)
    let difference = try #require(bench.report?.difference)
    #expect(bench.report?.outcome == .different)
    #expect(difference.frame == 5)
    #expect(difference.reason.contains(reason), "\(difference.reason)")
    #expect(difference.got?.header == header)
  }

  @Test("finds an answer too many before the PONG, and lets an answer go on beyond the end of the recording")
  func beyond() throws {
    let script: [(RecordedFrame.Direction, FrameHeader, String)] =
      Samples.start + [
        (.toWorker, Samples.request(5), "a"), (.toWorker, Samples.request(6), "b"),
        (.fromWorker, Samples.answer(5), "A"),
      ]
    var bench = try ReplayBench(script)
    bench.start()
    bench.send(Samples.answer(6), "B")
    bench.send(Samples.answer(5), "A")
    bench.send(FrameHeader(type: .event, id: 1))
    bench.pong()
    #expect(bench.report?.outcome == .identical && bench.report?.beyondCount == 2)

    var twice = try ReplayBench(script)
    twice.start()
    twice.send(Samples.answer(5), "A")
    twice.send(Samples.answer(5), "A")
    #expect(twice.report?.outcome == .different)
  }

  @Test("keeps to the credit that the program grants")
  func credit() throws {
    var bench = try ReplayBench(
      Samples.start + (1...3).map { (.toWorker, Samples.request($0), "a") }
        + (1...3).map { (.fromWorker, Samples.answer($0), "A") })
    bench.send(
      FrameHeader(type: .hello), #"{"name":"example","role":"example","window":{"frames":1,"bytes":100}}"#)
    // The window is compared, for it is the program's own choice.
    #expect(bench.report?.difference?.reason == "'window' in its HELLO differs")

    var script = Samples.start
    script[0].2 = #"{"name":"example","role":"example","window":{"frames":1,"bytes":100}}"#
    bench = try ReplayBench(script + (1...3).map { (.toWorker, Samples.request($0), "a") })
    bench.send(FrameHeader(type: .hello), script[0].2)
    bench.send(FrameHeader(type: .ready))
    #expect(bench.sentTypes == [.welcome, .request])
    let credit = Credit(frames: 3, bytes: 300)
    bench.perform(bench.replay.received(FrameHeader(type: .credit), credit.payload, now: bench.now))
    #expect(bench.sentTypes == [.welcome, .request, .request, .request, .ping])
  }

  @Test("waits as long as it took, and its patience, and then tells what it waited for")
  func timeOut() throws {
    var bench = try ReplayBench(
      Samples.start + [(.toWorker, Samples.request(5), "a"), (.fromWorker, Samples.answer(5), "A")])
    bench.start()
    bench.pass(milliseconds: 4_900)
    // Telling its state is no move.
    bench.send(FrameHeader(type: .status), "busy")
    #expect(bench.report == nil)
    bench.pass(milliseconds: 200)
    #expect(bench.report?.outcome == .timedOut)
    #expect(bench.report?.difference?.frame == 5)
  }

  @Test("ends with a difference when the program does, unless all has come")
  func programEnds() throws {
    let script: [(RecordedFrame.Direction, FrameHeader, String)] =
      Samples.start + [(.toWorker, Samples.request(5), "a"), (.fromWorker, Samples.answer(5), "A")]
    var bench = try ReplayBench(script)
    bench.start()
    bench.perform(bench.replay.programEnded("exit code 3", isClean: false))
    #expect(bench.report?.outcome == .different)
    #expect(bench.report?.difference?.reason.contains("exit code 3") == true)
    bench = try ReplayBench(script)
    bench.start()
    bench.send(Samples.answer(5), "A")
    bench.perform(bench.replay.programEnded("exit code 0", isClean: true))
    #expect(bench.report?.outcome == .identical)
  }

  @Test("ends with a difference when the program crashes after the last frame, unless the recorded worker left there")
  func crashesAtTheEnd() throws {
    let script = Samples.start + [(.toWorker, Samples.request(5), "kills")]
    for reason in [RecordingEnd.Reason.asked, .connection] {
      var bench = try ReplayBench(script, end: RecordingEnd(reason, ""))
      bench.start()
      #expect(bench.sentTypes.last == .ping)
      bench.perform(bench.replay.programEnded("killed by signal 11", isClean: false))
      #expect(bench.report?.outcome == (reason == .asked ? .different : .identical))
      #expect(bench.report?.difference.map { $0.reason.contains("signal 11") } ?? true)
    }
  }

  @Test("of answers alone lets the program ask and tell what it likes")
  func answersOnly() throws {
    let event = FrameHeader(type: .event, id: 1, method: 288)
    let script: [(RecordedFrame.Direction, FrameHeader, String)] =
      Samples.start + [
        (.fromWorker, event, "{}"), (.toWorker, Samples.request(5), "a"), (.fromWorker, Samples.answer(5), "A"),
      ]
    var bench = try ReplayBench(script, answersOnly: true)
    bench.start()
    bench.send(FrameHeader(type: .subscribe, id: 4, method: 288))
    bench.send(Samples.answer(5), "A")
    bench.pong()
    #expect(bench.report?.outcome == .identical && bench.report?.comparedCount == 3)
    bench = try ReplayBench(script, answersOnly: true)
    bench.start()
    bench.send(Samples.answer(5), "B")
    #expect(bench.report?.outcome == .different)
  }

  @Test("holds the hub's frames to their time when it is paced")
  func paced() throws {
    var bench = try ReplayBench(Samples.start + [(.toWorker, Samples.request(5), "a")], isPaced: true)
    bench.start()
    #expect(bench.sent.isEmpty)
    bench.pass(milliseconds: 1)
    #expect(bench.sentTypes == [.welcome])
    bench.pass(milliseconds: 2)
    #expect(bench.sentTypes == [.welcome, .request, .ping])
  }

  @Test("answers the program's PINGs itself, and plays none of the recorded answers")
  func pings() throws {
    var bench = try ReplayBench(
      Samples.start + [
        (.fromWorker, FrameHeader(type: .ping, id: 3), ""), (.toWorker, FrameHeader(type: .pong, re: 3), ""),
        (.toWorker, Samples.request(5), "a"),
      ])
    bench.start()
    bench.send(FrameHeader(type: .ping, id: 77))
    #expect(bench.sent.filter { $0.header.type == .pong }.map(\.header.re) == [77])
  }

  @Test("is refused for what cannot be played: without a beginning, with gaps, with secrets for the worker")
  func refused() throws {
    var opening = Samples.opening
    opening.isFromStart = false
    let middle = try Samples.recording([(.toWorker, Samples.request(5), "a")], opening: opening)
    let now = Instant(nanoseconds: 1)
    #expect(throws: ReplayProblem.beginsInTheMiddle) { try Replay(middle, ReplaySettings(), now: now) }
    let empty = try Samples.recording([])
    #expect(throws: ReplayProblem.isEmpty) { try Replay(empty, ReplaySettings(), now: now) }
    let whole = try Samples.recording(Samples.start)
    func inserting(_ record: RecordingEntry, at place: Int) -> Recording {
      var recording = whole
      recording.records.insert(record, at: place)
      return recording
    }
    let gap = inserting(.gap(nanoseconds: 1, missingCount: 4), at: 2)
    #expect(throws: ReplayProblem.hasGaps(missingCount: 4)) { try Replay(gap, ReplaySettings(), now: now) }
    let frame = RecordedFrame(
      nanoseconds: 1, direction: .toWorker, header: Samples.request(5), payload: [], isWithheld: true)
    let secret = inserting(.frame(frame), at: 3)
    #expect(throws: ReplayProblem.isSecret(frame: 4)) { try Replay(secret, ReplaySettings(), now: now) }
  }
}
