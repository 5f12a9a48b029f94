internal import Cryptography
public import Contracts
public import Frames
public import Recordings
internal import Wording

/// What `roost recording show` and `roost replay` print of frames: a line each, or an object each.
///
/// Names come from the access table, and from the registries in the recording itself, so frames must be given in their
/// order.
public struct RecordingText: Sendable {
  private var names: [UInt16: String] = [:]
  private var roles: [UInt16: String] = [:]
  private let style: Style

  /// A printer that knows Roost's own methods, and those that the opening names.
  public init(_ style: Style, opening: RecordingOpening? = nil) {
    self.style = style
    for entry in AccessTable.builtIn { names[entry.number] = entry.name }
    for role in Role.builtIn { roles[role.number] = role.name }
    if let opening { learn(opening) }
  }

  /// Learns the names in the opening.
  public mutating func learn(_ opening: RecordingOpening) {
    for (name, number) in opening.methods ?? [:] { names[number] = name }
  }

  // MARK: Lines

  /// The head of a recording.
  public static func head(_ opening: RecordingOpening, _ style: Style) -> [String] {
    let program =
      opening.program.isEmpty ? "started by hand" : ([opening.program] + opening.arguments).joined(separator: " ")
    let start = opening.isFromStart ? "from its HELLO on" : "from the middle of its connection"
    let facts = [
      ("worker", "\(opening.worker), role \(opening.role), generation \(opening.generation), \(start)"),
      ("program", program), ("time", "\(opening.time), roostd \(opening.version)"),
    ]
    return facts.map { name, value in
      style.paint(name + ":", .dim) + String(repeating: " ", count: 9 - name.utf8.count) + VisibleText.make(value)
    }
  }

  /// A frame: its number, time in seconds, direction, and what is in it.
  public mutating func line(_ number: Int, _ frame: RecordedFrame) -> String {
    learn(frame)
    let head = "\(Self.padded(number))  \(Self.seconds(frame.nanoseconds))  \(Self.arrow(frame.direction)) "
    return style.paint(head, .dim) + text(frame.header, frame.payload, isWithheld: frame.isWithheld)
  }

  /// A gap.
  public func gapLine(missingCount: UInt64) -> String {
    style.paint("-- \(Amount.count(missingCount, "frame")) missing here: the disk was too slow for them", .warning)
  }

  /// The end, or that it is missing.
  public func endLines(_ recording: RecordingEnd?, isCutOff: Bool) -> [String] {
    if let recording {
      return [style.paint("-- the end (\(recording.reason.rawValue)): \(VisibleText.make(recording.text))", .dim)]
    }
    return [
      style.paint(
        "-- truncated: the recording stops without an end\(isCutOff ? ", in the middle of a record" : ""); "
          + "its writer could not continue", .warning)
    ]
  }

  /// The text after the arrow: type, method, ids, payload; cut to the style's width.
  public func text(_ header: FrameHeader, _ payload: [UInt8], isWithheld: Bool = false) -> String {
    var words = [header.type.word.padded(to: 8)]
    if header.method != 0 { words.append(names[header.method] ?? "method \(header.method)") }
    if header.id != 0 { words.append("id \(header.id)") }
    if let role = Self.callerRole(header) {
      words.append("from \(roles[role] ?? "role \(role)") \(header.source)")
    } else {
      if header.re != 0 { words.append("re \(header.re)") }
      if header.source != .hub { words.append("from \(header.source)") }
    }
    if header.destination != .hub { words.append("to \(header.destination)") }
    if header.attempt > 1 { words.append("attempt \(header.attempt)") }
    if header.ttlMilliseconds > 0 { words.append("ttl \(header.ttlMilliseconds)ms") }
    words += Self.flagWords(header.flags)
    words.append(payloadText(header, payload, isWithheld: isWithheld))
    let line = VisibleText.make(words.filter { !$0.isEmpty }.joined(separator: " "))
    return DisplayWidth.cut(line, to: Self.lineColumns)
  }

  /// The role of the sender, if the hub has written one in place of the id of another frame.
  private static func callerRole(_ header: FrameHeader) -> UInt16? {
    guard header.type == .request || header.type == .event, header.callerRole != 0 else { return nil }
    return header.callerRole
  }

  private func payloadText(_ header: FrameHeader, _ payload: [UInt8], isWithheld: Bool) -> String {
    let size = Amount.bytes(UInt64(header.payloadByteCount))
    if isWithheld { return "(\(size), secret)" }
    if header.type == .credit, let credit = payload.withUnsafeBytes({ Credit($0) }) {
      return "\(credit.frames) frames, \(credit.bytes) bytes in all"
    }
    if payload.isEmpty { return "" }
    if header.flags.contains(.raw) { return "(\(size) of the method's own layout)" }
    return String(decoding: PayloadText.line(Array(payload.prefix(Self.payloadByteCountMaximum))), as: UTF8.self)
  }

  // MARK: JSON

  /// A frame as an object.
  public mutating func object(_ number: Int, _ frame: RecordedFrame) -> [UInt8] {
    learn(frame)
    var members: [(String, [UInt8])] = [
      ("frame", Self.number(number)), ("nanoseconds", Self.number(frame.nanoseconds)),
      ("direction", JSONLine.string(frame.direction == .toWorker ? "to-worker" : "from-worker")),
    ]
    members += self.members(frame.header, frame.payload, isWithheld: frame.isWithheld)
    if frame.isTokenRemoved { members.append(("tokenRemoved", Array("true".utf8))) }
    return JSONLine.object(members)
  }

  /// A gap as an object.
  public static func gapObject(nanoseconds: UInt64, missingCount: UInt64) -> [UInt8] {
    JSONLine.object([("missing", number(missingCount)), ("nanoseconds", number(nanoseconds))])
  }

  /// The members of a frame's object.
  public func members(
    _ header: FrameHeader, _ payload: [UInt8], isWithheld: Bool = false
  ) -> [(String, [UInt8])] {
    var members: [(String, [UInt8])] = [("type", JSONLine.string(header.type.word))]
    let numbers: [(String, UInt64)] = [
      ("flags", UInt64(header.flags.rawValue)), ("destination", UInt64(header.destination.rawValue)),
      ("source", UInt64(header.source.rawValue)), ("id", header.id), ("re", header.re),
      ("ttl", UInt64(header.ttlMilliseconds)), ("attempt", UInt64(header.attempt)), ("method", UInt64(header.method)),
      ("trace", header.trace),
    ]
    for (name, value) in numbers where value != 0 { members.append((name, Self.number(value))) }
    if let name = names[header.method] { members.append(("methodName", JSONLine.string(name))) }
    if let role = Self.callerRole(header), let name = roles[role] {
      members.append(("callerRole", JSONLine.string(name)))
    }
    members.append(("bytes", Self.number(header.payloadByteCount)))
    if isWithheld {
      members.append(("withheld", Array("true".utf8)))
    } else if header.flags.contains(.raw) || header.type == .credit {
      members.append(("payloadBase64", JSONLine.string(Base64.encode(payload))))
    } else if !payload.isEmpty {
      members.append(("payload", PayloadText.line(payload)))
    }
    return members
  }

  // MARK: Parts

  /// Learns names: methods of a user's own workers get their numbers while the hub runs.
  private mutating func learn(_ frame: RecordedFrame) {
    let registry: Registry?
    // `try?`: a payload that cannot be read has no names.
    switch frame.header.type {
    case .welcome: registry = (try? JSONPayload.decode(Welcome.self, from: frame.payload))?.registry
    case .registry: registry = try? JSONPayload.decode(Registry.self, from: frame.payload)
    default: return
    }
    for (name, method) in registry?.methods ?? [:] { names[method.number] = name }
    for (name, number) in registry?.topics ?? [:] { names[number] = name }
    for (name, number) in registry?.roles ?? [:] { roles[number] = name }
  }

  /// The width of a line; it should be readable at a glance.
  private static let lineColumns = 160
  /// The most of a payload that is examined for a line.
  private static let payloadByteCountMaximum = 4 << 10

  private static func arrow(_ direction: RecordedFrame.Direction) -> String { direction == .toWorker ? "→" : "←" }
  private static func padded(_ number: Int) -> String { "\(number)".padded(to: 4, isRight: true) }

  /// Seconds with microseconds: `1.000250`.
  private static func seconds(_ nanoseconds: UInt64) -> String {
    let micros = "\(nanoseconds / 1_000 % 1_000_000)"
    return "\(nanoseconds / 1_000_000_000).".padded(to: 3, isRight: true)
      + String(repeating: "0", count: 6 - micros.count) + micros
  }

  private static func flagWords(_ flags: FrameFlags) -> [String] {
    let words: [(FrameFlags, String)] = [
      (.more, "MORE"), (.redelivered, "REDELIVERED"), (.atMostOnce, "AT_MOST_ONCE"), (.needsAck, "NEEDS_ACK"),
    ]
    return words.filter { flags.contains($0.0) }.map(\.1)
  }

  private static func number(_ value: some BinaryInteger) -> [UInt8] { Array("\(value)".utf8) }
}

extension String {
  fileprivate func padded(to count: Int, isRight: Bool = false) -> String {
    let blanks = String(repeating: " ", count: Swift.max(0, count - utf8.count))
    return isRight ? blanks + self : self + blanks
  }
}

/// What `roost replay` prints at its end.
public enum ReplayText {
  /// The lines.
  public static func lines(_ report: ReplayReport, names: RecordingText, _ style: Style) -> [String] {
    let counts =
      "\(Amount.count(report.playedCount, "frame")) played, \(report.comparedCount) compared"
      + (report.beyondCount > 0 ? ", \(report.beyondCount) beyond the end of the recording" : "")
    guard let difference = report.difference else {
      return [style.paint("identical", .good) + ": \(counts)."]
    }
    let word = report.outcome == .timedOut ? "timed out" : "different"
    var lines = [
      style.paint(word, .bad) + " at frame \(difference.frame) of \(report.frameCount): "
        + VisibleText.make(difference.reason) + "."
    ]
    if let expected = difference.expected {
      let text = names.text(expected.header, expected.payload, isWithheld: expected.isWithheld)
      lines.append("  expected  " + text)
    }
    if let got = difference.got {
      lines.append("  got       " + names.text(got.header, got.payload))
    }
    return lines + ["Before it: \(counts)."]
  }

  /// The same as an object.
  public static func object(_ report: ReplayReport, names: RecordingText) -> [UInt8] {
    let numbers = [
      ("frames", report.frameCount), ("played", report.playedCount), ("compared", report.comparedCount),
      ("beyond", report.beyondCount),
    ]
    var members: [(String, [UInt8])] = [("outcome", JSONLine.string(report.outcome.rawValue))]
    members += numbers.map { ($0.0, Array("\($0.1)".utf8)) }
    guard let difference = report.difference else { return JSONLine.object(members) }
    members.append(("frame", Array("\(difference.frame)".utf8)))
    members.append(("reason", JSONLine.string(difference.reason)))
    if let expected = difference.expected {
      let object = names.members(expected.header, expected.payload, isWithheld: expected.isWithheld)
      members.append(("expected", JSONLine.object(object)))
    }
    if let got = difference.got {
      members.append(("got", JSONLine.object(names.members(got.header, got.payload))))
    }
    return JSONLine.object(members)
  }
}

/// What `roost record` prints.
public enum RecordText {
  /// During the recording.
  public static func progress(_ progress: RecordProgress, worker: String) -> String {
    let path = VisibleText.make(progress.path)
    return progress.isRecording
      ? "Recording \(VisibleText.make(worker)) to \(path); Ctrl-C ends it."
      : "Waiting for \(VisibleText.make(worker)) to start."
  }

  /// At its end.
  public static func lines(_ result: RecordResult) -> [String] {
    var lines = [
      "\(VisibleText.make(result.path)): \(Amount.bytes(UInt64(clamping: result.bytes))), "
        + "\(Amount.count(result.framesToWorker, "frame")) to the worker and \(result.framesFromWorker) from it.",
      "\(ending(result.reason)): \(VisibleText.make(result.sentence)).",
    ]
    if result.framesMissing > 0 {
      lines.append("Incomplete: \(Amount.count(result.framesMissing, "frame")) found no room on their way to the disk.")
    }
    if result.isReplayable {
      lines.append("Play it again: roost replay \(VisibleText.make(result.path)) -- PROGRAM ARGUMENTS")
    }
    return lines
  }

  /// How the recording ended; the sentence after it gives the exact reason.
  private static func ending(_ reason: String) -> String {
    switch reason {
    case "asked": "Ended as asked"
    case "time": "Ended at its time"
    case "size": "Ended at its size"
    case "connection": "Ended with the connection"
    case "disk": "Ended by a fault of the disk"
    default: "Ended (\(VisibleText.make(reason)))"
    }
  }
}
