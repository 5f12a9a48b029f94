public import Clocks
public import Frames

// Plays a recording to a program: a machine without I/O. Inputs are the program's frames, its end, and time; outputs
// are frames to send, and at the end a report.
//
// Causality. A frame of the hub is sent only when every frame of the worker that precedes it in the recording has
// arrived. So everything that the hub's frame may have been an answer to has happened again before it. Time is not part
// of that: frames are sent as fast as the program permits, unless `isPaced` also holds each until its recorded time.
//
// What is compared. The protocol promises an order within one answer, and among the frames that a worker sends on its
// own; it promises none between answers to different requests. So the worker's frames are compared strand by strand
// (`Strand`), each frame with the next recorded one of its strand, every field and byte. Fields and frames that always
// differ are not compared:
//
//     CREDIT            a worker may grant often or seldom; its grants are respected
//     STATUS, PROGRESS, EXTEND, PING
//                       sent at certain times, for people or watchdogs
//     HELLO             pid, instance, version, sandbox, token; the order of its methods
//
// How it ends. When all frames are played and matched, the program receives a PING, and what it sends before its PONG
// still counts: this finds an answer too many. A frame that the program sends on its own and that the recording does
// not have is a difference while recorded frames are still expected. After that it is only counted, because the
// recording may simply have ended before it.
//
// Rejected: comparing all frames in one order. A worker with two requests in flight may answer either first, depending
// on how the bytes were split on their way; a difference in that order means nothing.

/// The bounds of a replay.
public struct ReplaySettings: Sendable, Equatable {
  /// How much longer a frame may take than in the recording.
  public var patienceMilliseconds: UInt64 = 5_000
  /// Whether the hub's frames also wait for their recorded time.
  public var isPaced = false
  /// Whether only answers are compared, and frames that the program sends on its own are neither compared nor expected:
  /// for a worker that has other inputs than the bus.
  public var comparesAnswersOnly = false
  /// How long the PONG at the end may take; a program that answers no PING need not send it.
  public var farewellMilliseconds: UInt64 = 1_000

  /// The defaults.
  public init() {}
}

/// Why a recording cannot be replayed at all.
public enum ReplayProblem: Error, Hashable, Sendable, CustomStringConvertible {
  /// It does not begin with HELLO.
  case beginsInTheMiddle
  /// It holds no frame to the worker.
  case isEmpty
  /// It has gaps.
  case hasGaps(missingCount: UInt64)
  /// A payload for the worker was withheld.
  case isSecret(frame: Int)

  /// The problem as a sentence, with what to do.
  public var description: String {
    switch self {
    case .beginsInTheMiddle:
      "this recording begins in the middle of a connection; 'roost record WORKER --restart' makes one from its HELLO on"
    case .isEmpty: "this recording has no message to the worker"
    case .hasGaps(let count):
      "\(count) frames are missing in this recording, because the disk was too slow for them; record again"
    case .isSecret(let frame):
      "the payload of frame \(frame) is secret and was not recorded, so it cannot be replayed"
    }
  }
}

/// One replay; see the comment at the start of the file.
public struct Replay: Sendable {
  /// What the caller has to do.
  public enum Action: Sendable {
    /// Send a frame to the program.
    case send(FrameHeader, [UInt8])
    /// The replay has ended; send nothing more.
    case finished(ReplayReport)
  }

  /// When ``timerFired(now:)`` is next due; nil once the replay has ended.
  public private(set) var deadline: Instant?

  let settings: ReplaySettings
  let frames: [RecordedFrame]
  /// Indices of the worker's frames that have not arrived, by strand.
  var expected: [Strand: ArraySlice<Int>]
  /// Which of the worker's frames have arrived, or are not expected.
  var isDealtWith: [Bool]
  /// Requests and events that the worker received, by the strand of their answers.
  let asked: Set<Strand>
  /// Answers whose end is in the recording.
  let answered: Set<Strand>
  /// Whether the recorded worker's connection ended, so that the end of the program agrees with the recording.
  let isEndRecorded: Bool
  var report = ReplayReport()

  /// The next frame of the recording to handle.
  private var cursor = 0
  private let begin: Instant
  private var lastMove: Instant
  private var pausedUntil: Instant?
  private var granted = Credit(frames: 0, bytes: 0)
  private var sent = Credit(frames: 0, bytes: 0)
  private var isSayingFarewell = false

  /// The id of the last PING; a worker's own ids never reach it.
  private static let farewellId = UInt64.max

  /// A replay that begins now: the program is being started.
  ///
  /// - Throws: ``ReplayProblem`` when the recording cannot be played.
  public init(_ recording: Recording, _ settings: ReplaySettings, now: Instant) throws(ReplayProblem) {
    let frames = RecordedCallers.completed(recording.frames)
    guard recording.opening.isFromStart, frames.first.map({ $0.header.type == .hello }) ?? true else {
      throw .beginsInTheMiddle
    }
    guard frames.contains(where: { $0.direction == .toWorker }) else { throw .isEmpty }
    guard recording.missingCount == 0 else { throw .hasGaps(missingCount: recording.missingCount) }
    if let index = frames.firstIndex(where: { $0.direction == .toWorker && $0.isWithheld }) {
      throw .isSecret(frame: index + 1)
    }
    self.settings = settings
    self.frames = frames
    let strands = frames.map { $0.direction == .fromWorker ? Strand($0.header, settings) : nil }
    isDealtWith = strands.map { $0 == nil }
    expected = Dictionary(grouping: frames.indices.filter { strands[$0] != nil }) { strands[$0] ?? .life }
      .mapValues { $0[...] }
    asked = Set(frames.filter { $0.direction == .toWorker }.compactMap { Strand(answersTo: $0.header) })
    answered = Set(
      frames.indices.filter { frames[$0].header.type.isTerminal(flags: frames[$0].header.flags) }
        .compactMap { strands[$0] })
    isEndRecorded = recording.end?.reason == .connection
    begin = now
    lastMove = now
    setDeadline()
  }

  // MARK: Inputs

  /// The program sent a frame.
  public mutating func received(_ header: FrameHeader, _ payload: [UInt8], now: Instant) -> [Action] {
    guard deadline != nil else { return [] }
    switch header.type {
    case .hello: learnWindow(payload)
    case .credit: payload.withUnsafeBytes { if let credit = Credit($0) { granted = credit } }
    case .ping: return [.send(FrameHeader(type: .pong, re: header.id), [])] + advance(now)
    case .pong where isSayingFarewell && header.re == Self.farewellId: return finish(.identical)
    default: break
    }
    let comparedBefore = report.comparedCount
    if let difference = compare(header, payload) { return finish(.different, difference) }
    // Only this counts as progress: STATUS frames do not.
    if report.comparedCount > comparedBefore { lastMove = now }
    return advance(now)
  }

  /// The program closed its bus, or ended. `how` describes it in words; `isClean` is true for the end of a worker that
  /// has finished: no signal, no breach of the protocol, exit code 0.
  public mutating func programEnded(_ how: String, isClean: Bool) -> [Action] {
    guard deadline != nil else { return [] }
    if let index = isDealtWith.firstIndex(of: false) {
      return finish(.different, difference(at: index, nil, "the program has ended: \(how)"))
    }
    guard cursor < frames.count else {
      if isClean || isEndRecorded { return finish(.identical) }
      return finish(.different, difference(at: frames.count - 1, nil, "after it, the program has ended: \(how)"))
    }
    return finish(.different, difference(at: cursor, nil, "the program has ended before this was sent: \(how)"))
  }

  /// The deadline has passed.
  public mutating func timerFired(now: Instant) -> [Action] {
    guard let deadline, now >= deadline else { return [] }
    if pausedUntil != nil { return advance(now) }
    if isSayingFarewell { return finish(.identical) }
    let waited = deadline.milliseconds(since: lastMove)
    let isOurs = cursor < frames.count && frames[cursor].direction == .toWorker
    let why = isOurs ? "it has granted no credit for this frame" : "it did not come"
    return finish(.timedOut, difference(at: min(cursor, frames.count - 1), nil, "\(why) within \(waited) ms"))
  }

  // MARK: Playing

  /// Sends the frames that may be sent now.
  private mutating func advance(_ now: Instant) -> [Action] {
    guard !isSayingFarewell else { return [] }
    var actions: [Action] = []
    pausedUntil = nil
    while cursor < frames.count {
      let frame = frames[cursor]
      if frame.direction == .toWorker {
        guard isDue(frame, now), hasCredit(for: frame) else { break }
        if frame.header.type != .pong {
          actions.append(.send(frame.header, frame.payload))
          report.playedCount += 1
          lastMove = now
        }
      } else if !isDealtWith[cursor] {
        break
      }
      cursor += 1
    }
    if cursor == frames.count {
      isSayingFarewell = true
      lastMove = now
      actions.append(.send(FrameHeader(type: .ping, id: Self.farewellId), []))
    }
    setDeadline()
    return actions
  }

  private mutating func isDue(_ frame: RecordedFrame, _ now: Instant) -> Bool {
    let instant = Instant(nanoseconds: begin.nanoseconds &+ frame.nanoseconds)
    guard settings.isPaced, instant > now else { return true }
    pausedUntil = instant
    return false
  }

  private mutating func hasCredit(for frame: RecordedFrame) -> Bool {
    guard frame.header.type.spendsCredit(flags: frame.header.flags) else { return true }
    guard sent.frames < granted.frames, sent.bytes < granted.bytes else { return false }
    sent.frames += 1
    sent.bytes += UInt64(frame.payload.count)
    return true
  }

  private mutating func learnWindow(_ payload: [UInt8]) {
    // A greeting that cannot be read differs from the recorded one, and is reported as a difference.
    let hello = try? JSONPayload.decode(Hello.self, from: payload)
    let window = hello?.window ?? .standard
    granted = Credit(frames: window.frames, bytes: window.bytes)
  }

  /// A step may take as long as it took in the recording.
  private mutating func setDeadline() {
    if let pausedUntil {
      deadline = pausedUntil
    } else if isSayingFarewell {
      deadline = lastMove.advanced(milliseconds: settings.farewellMilliseconds)
    } else {
      let before = cursor > 0 ? frames[cursor - 1].nanoseconds : 0
      let took = frames[cursor].nanoseconds > before ? (frames[cursor].nanoseconds - before) / 1_000_000 : 0
      deadline = lastMove.advanced(milliseconds: settings.patienceMilliseconds + took)
    }
  }

  private mutating func finish(_ outcome: ReplayReport.Outcome, _ difference: ReplayDifference? = nil) -> [Action] {
    deadline = nil
    report.outcome = outcome
    report.difference = difference
    report.frameCount = frames.count
    return [.finished(report)]
  }
}
