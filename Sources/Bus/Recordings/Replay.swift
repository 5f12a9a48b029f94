public import Clocks
public import Frames

// Plays a recording to a program: a machine without I/O. Inputs are the program's frames, its end, and time; outputs
// are frames to send, and at last a report.
//
// Causality. A frame of the hub is sent only when every frame of the worker that stood before it in the recording has
// come. So whatever the hub's frame may have been an answer to has happened again before it. Time is not part of that:
// frames go as fast as the program lets them, unless `isPaced` holds each to its instant as well.
//
// What is compared. The protocol promises an order within one answer, and of what a worker sends of its own accord;
// between answers to different requests it promises none. So the worker's frames are compared strand by strand
// (`Strand`), each frame with the next recorded one of its strand, every field and byte. Not compared is what differs
// by its nature:
//
//     CREDIT            a worker may grant often or seldom; what it grants is kept to
//     STATUS, PROGRESS, EXTEND, PING
//                       said by the clock, for people or watchdogs
//     HELLO             pid, instance, version, sandbox, token; the order of its methods
//
// How it ends. When all is played and matched the program gets a PING, and what it sends before its PONG still counts:
// an answer too many is found. A frame of its own accord that the recording does not have is a difference while
// something is still to come, and is only counted after that: the recording may simply have ended before it.
//
// Rejected: comparing all frames in one order. A worker with two requests in hand may answer either first, depending on
// how the bytes were cut on their way; nothing would be learnt from being told so.

/// The bounds of a replay.
public struct ReplaySettings: Sendable, Equatable {
  /// How long a frame may take longer than it took in the recording.
  public var patienceMilliseconds: UInt64 = 5_000
  /// Whether the hub's frames also wait for their time in the recording.
  public var isPaced = false
  /// Whether only answers are compared, and what the program sends of its own accord is neither compared nor waited
  /// for: for a worker that has other inputs than its bus.
  public var comparesAnswersOnly = false
  /// How long the PONG at the end may take; a program that answers no PING is not held to it.
  public var farewellMilliseconds: UInt64 = 1_000

  /// The defaults.
  public init() {}
}

/// Why a recording cannot be replayed at all.
public enum ReplayProblem: Error, Hashable, Sendable, CustomStringConvertible {
  /// It does not begin with HELLO.
  case beginsInTheMiddle
  /// It holds nothing that a worker was told.
  case isEmpty
  /// Frames are missing in it.
  case hasGaps(missingCount: UInt64)
  /// A payload for the worker was withheld.
  case isSecret(frame: Int)

  /// A sentence, with what to do.
  public var description: String {
    switch self {
    case .beginsInTheMiddle:
      "this recording begins in the middle of a connection; 'roost record WORKER --restart' makes one from its HELLO on"
    case .isEmpty: "this recording holds nothing that the worker was told"
    case .hasGaps(let count):
      "\(count) frames are missing in this recording, because the disk was too slow for them; record again"
    case .isSecret(let frame):
      "the payload of frame \(frame) is secret and was not recorded, so nobody can be told it again"
    }
  }
}

/// One replay; see the essay at the head of the file.
public struct Replay: Sendable {
  /// What is to be done.
  public enum Action: Sendable {
    /// Send a frame to the program.
    case send(FrameHeader, [UInt8])
    /// It is over; nothing more is to be sent.
    case finished(ReplayReport)
  }

  /// When ``timerFired(now:)`` is next due; nil once it is over.
  public private(set) var deadline: Instant?

  let settings: ReplaySettings
  let frames: [RecordedFrame]
  /// Indices of the worker's frames that have not come, by strand.
  var expected: [Strand: ArraySlice<Int>]
  /// Which of the worker's frames have come, or are not waited for.
  var isDealtWith: [Bool]
  /// Requests and events the worker was told of, by what an answer to them says.
  let asked: Set<Strand>
  /// Answers whose end stands in the recording.
  let answered: Set<Strand>
  /// Whether the recorded worker's connection ended, so that a program which ends does as recorded.
  let isEndRecorded: Bool
  var report = ReplayReport()

  /// The next frame of the recording to be looked at.
  private var cursor = 0
  private let begin: Instant
  private var lastMove: Instant
  private var pausedUntil: Instant?
  private var granted = Credit(frames: 0, bytes: 0)
  private var sent = Credit(frames: 0, bytes: 0)
  private var isSayingFarewell = false

  /// The id of the last PING; a worker's own count never gets there.
  private static let farewellId = UInt64.max

  /// A replay that begins now: the program is being started.
  ///
  /// - Throws: ``ReplayProblem`` when the recording cannot be played to anybody.
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
    // Only this counts: a program that goes on telling its state does not move.
    if report.comparedCount > comparedBefore { lastMove = now }
    return advance(now)
  }

  /// The program closed its bus, or ended; `how` says it in words, and `isClean` whether a worker that is done ends so:
  /// not by a signal, a breach of the protocol or an exit code but 0.
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

  /// Sends what may be sent now.
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
    // A greeting that cannot be read differs from the recorded one, and is told so.
    let hello = try? JSONPayload.decode(Hello.self, from: payload)
    let window = hello?.window ?? .standard
    granted = Credit(frames: window.frames, bytes: window.bytes)
  }

  /// What took its time in the recording may take it again.
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
