internal import Frames

/// A sequence of frames that must come in order. Between strands there is no order.
enum Strand: Hashable, Sendable {
  /// HELLO, READY, GOODBYE, FATAL.
  case life
  /// Requests, events, cancellations and subscriptions that the worker sends on its own.
  case own
  /// The answer to one request or event.
  case answer(to: Endpoint, id: UInt64)
  /// Answers to PINGs.
  case pong

  /// The strand of a worker's frame; nil when it is not compared.
  init?(_ header: FrameHeader, _ settings: ReplaySettings) {
    switch header.type {
    case .hello, .ready, .goodbye, .fatal: self = .life
    case .request, .event, .cancel, .subscribe, .unsubscribe:
      if settings.comparesAnswersOnly { return nil }
      self = .own
    case .response, .error, .ack, .nack: self = .answer(to: header.destination, id: header.re)
    case .pong: self = .pong
    case .credit, .status, .progress, .extend, .ping: return nil
    // Only the hub sends these; from a worker they are a violation, and so belong to this strand.
    case .welcome, .registry, .drain, .config, .gap: self = .life
    }
  }

  /// The strand in which a worker answers a frame of the hub; nil for a frame without an answer.
  init?(answersTo header: FrameHeader) {
    guard header.type == .request || header.type == .event else { return nil }
    self = .answer(to: header.source, id: header.id)
  }
}

extension Replay {
  /// Compares a frame of the program with the next recorded one of its strand; nil when they do not differ.
  mutating func compare(_ header: FrameHeader, _ payload: [UInt8]) -> ReplayDifference? {
    guard let strand = Strand(header, settings) else { return nil }
    guard let index = expected[strand]?.popFirst() else { return judgeExtra(header, payload, strand) }
    if let reason = FrameComparison.reason(recorded: frames[index], header, payload) {
      return difference(at: index, (header, payload), reason)
    }
    isDealtWith[index] = true
    report.comparedCount += 1
    return nil
  }

  /// A frame that the recording does not have.
  private mutating func judgeExtra(
    _ header: FrameHeader, _ payload: [UInt8], _ strand: Strand
  ) -> ReplayDifference? {
    let isMore =
      switch strand {
      // An answer may continue beyond the recording, unless its end is recorded, or there was no request for it.
      case .answer: !answered.contains(strand) && asked.contains(strand)
      case .pong: false
      case .life: header.type != .fatal && !isDealtWith.contains(false)
      case .own: !isDealtWith.contains(false)
      }
    guard !isMore else {
      report.beyondCount += 1
      return nil
    }
    return ReplayDifference(
      frame: (isDealtWith.firstIndex(of: false) ?? frames.count - 1) + 1, expected: nil,
      got: .init(header: header, payload: payload), reason: "the recording has no such frame")
  }

  func difference(at index: Int, _ got: (FrameHeader, [UInt8])?, _ reason: String) -> ReplayDifference {
    ReplayDifference(
      frame: index + 1, expected: frames[index], got: got.map { .init(header: $0.0, payload: $0.1) }, reason: reason)
  }
}

/// Compares two frames.
enum FrameComparison {
  /// Fields of HELLO that differ at every start.
  static let changingHelloFields: Set<String> = ["pid", "instance", "version", "sandbox", "token"]

  /// The first difference between a frame and the recorded one; nil when they agree.
  static func reason(recorded: RecordedFrame, _ header: FrameHeader, _ payload: [UInt8]) -> String? {
    if let reason = reason(recorded.header, header) { return reason }
    if recorded.isWithheld {
      let (before, now) = (recorded.header.payloadByteCount, payload.count)
      return before == now ? nil : "its payload has \(now) bytes; the recorded one, which is secret, had \(before)"
    }
    if recorded.header.type == .hello { return helloReason(recorded.payload, payload) }
    return payloadReason(recorded.payload, payload)
  }

  private static func reason(_ recorded: FrameHeader, _ header: FrameHeader) -> String? {
    if recorded.type != header.type { return "its type is \(header.type.word), not \(recorded.type.word)" }
    let numbers: [(String, UInt64, UInt64)] = [
      ("flags", UInt64(recorded.flags.rawValue), UInt64(header.flags.rawValue)),
      ("destination", UInt64(recorded.destination.rawValue), UInt64(header.destination.rawValue)),
      ("source", UInt64(recorded.source.rawValue), UInt64(header.source.rawValue)), ("id", recorded.id, header.id),
      ("re", recorded.re, header.re), ("ttl", UInt64(recorded.ttlMilliseconds), UInt64(header.ttlMilliseconds)),
      ("attempt", UInt64(recorded.attempt), UInt64(header.attempt)),
      ("method", UInt64(recorded.method), UInt64(header.method)), ("trace", recorded.trace, header.trace),
    ]
    // A recording keeps HELLO without its token, encoded again; no frame refers to its id.
    return numbers.first { $0.1 != $0.2 && !(recorded.type == .hello && $0.0 == "id") }.map { name, before, now in
      "'\(name)' in its header is \(now), not \(before)"
    }
  }

  private static func payloadReason(_ recorded: [UInt8], _ payload: [UInt8]) -> String? {
    guard recorded != payload else { return nil }
    let place = zip(recorded, payload).prefix { $0 == $1 }.count
    return "its payload differs from byte \(place) on: \(payload.count) bytes, recorded \(recorded.count)"
  }

  private static func helloReason(_ recorded: [UInt8], _ payload: [UInt8]) -> String? {
    guard let before = lasting(recorded), let now = lasting(payload) else { return payloadReason(recorded, payload) }
    let names = Set(before.keys).union(now.keys).sorted()
    return names.first { before[$0] != now[$0] }.map { "'\($0)' in its HELLO differs" }
  }

  /// The fields of a HELLO that are the same at every start. Only fields of the protocol, because the hub records no
  /// others.
  private static func lasting(_ payload: [UInt8]) -> [String: JSONValue]? {
    // A payload that is not a HELLO is compared byte by byte.
    guard let known = try? JSONPayload.decode(Hello.self, from: payload),
      var hello = try? JSONPayload.decode([String: JSONValue].self, from: JSONPayload.encode(known))
    else { return nil }
    for name in changingHelloFields { hello[name] = nil }
    if case .array(let methods)? = hello["methods"] { hello["methods"] = .array(methods.sorted { "\($0)" < "\($1)" }) }
    return hello
  }
}
