internal import JSON
public import Nostr

/// One message from or to a relay as a line of a log: what it is, without what is in it that is secret or long.
///
/// Of an event only id, kind and size are shown, of AUTH nothing but the word; arrays in filters are cut, and so are
/// long texts. Texts of relays are foreign, and are made harmless where a line is shown.
public struct TrafficLine: Hashable, Sendable {
  /// What a message is about.
  public enum Kind: String, Sendable, Hashable {
    /// AUTH.
    case auth
    /// NOTICE and everything else.
    case notice
    /// EVENT to a relay, and OK.
    case publish
    /// REQ, COUNT, CLOSE; EVENT from a relay, EOSE, CLOSED.
    case subscription
    /// The messages of NIP-77.
    case sync
  }

  /// What the message is about.
  public let kind: Kind
  /// The message in short: `REQ k3v0q.1 {"authors":["82…","3b…","a1…",…497 more],"kinds":[1]}`.
  public let text: String
  /// The subscription that it names.
  public let subscription: String?
  /// The event that it publishes or answers.
  public let event: EventID?
  /// Whether no message about this subscription follows.
  public let isEnd: Bool

  /// The longest line, in bytes; a longer one is cut.
  public static let byteCountMaximum = 1_024
  /// The values of an array that are shown.
  static let shownValues = 3
  /// The longest value that is shown, in bytes: a key is 66 with its quotes.
  static let valueByteCountMaximum = 80

  private init(
    _ kind: Kind, _ text: String, subscription: String? = nil, event: EventID? = nil, isEnd: Bool = false
  ) {
    self.kind = kind
    self.text = Self.cut(text, to: Self.byteCountMaximum)
    (self.subscription, self.event, self.isEnd) = (subscription, event, isEnd)
  }

  // MARK: Messages to a relay

  /// A message that is sent.
  public init(sent bytes: UnsafeRawBufferPointer) {
    do throws(JSONFault) { self = try Self.reading(bytes) } catch {
      self.init(.notice, "a message of \(bytes.count) bytes")
    }
  }

  private static func reading(_ bytes: UnsafeRawBufferPointer) throws(JSONFault) -> TrafficLine {
    var scanner = JSONScanner(bytes)
    try scanner.expect(UInt8(ascii: "["))
    let label = try scanner.scanString().string(in: bytes)
    if label == "EVENT" {
      try scanner.expect(UInt8(ascii: ","))
      let (text, id) = event(UnsafeRawBufferPointer(rebasing: bytes[try scanner.skipValue()]))
      return TrafficLine(.publish, "EVENT \(text)", event: id)
    }
    if label == "AUTH" {
      try scanner.expect(UInt8(ascii: ","))
      let (_, id) = event(UnsafeRawBufferPointer(rebasing: bytes[try scanner.skipValue()]))
      return TrafficLine(.auth, label, event: id)
    }
    try scanner.expect(UInt8(ascii: ","))
    let name = try scanner.scanString().string(in: bytes)
    var text = "\(label) \(name)"
    let kind: Kind = label.hasPrefix("NEG-") ? .sync : label == "PUBLICATIONS" ? .notice : .subscription
    while try scanner.take(UInt8(ascii: ",")), text.utf8.count < byteCountMaximum {
      // The filters; of a reconciliation, the message too, which is only long.
      if try scanner.peek() == UInt8(ascii: "{"), kind != .notice {
        text += " " + (try short(&scanner))
      } else {
        text += " (\(try scanner.skipValue().count) bytes)"
      }
    }
    let isEnd = label == "CLOSE" || label == "NEG-CLOSE"
    return TrafficLine(kind, text, subscription: name, isEnd: isEnd)
  }

  /// A value as JSON, with arrays and texts cut.
  private static func short(_ scanner: inout JSONScanner) throws(JSONFault) -> String {
    switch try scanner.peek() {
    case UInt8(ascii: "{"):
      var members: [String] = []
      try scanner.readObject { name, scanner throws(JSONFault) in
        let name = name.string(in: scanner.bytes)
        members.append("\"\(cut(name, to: valueByteCountMaximum))\":\(try short(&scanner))")
      }
      return "{\(members.joined(separator: ","))}"
    case UInt8(ascii: "["):
      var values: [String] = []
      var more = 0
      try scanner.readArray { scanner throws(JSONFault) in
        if values.count < shownValues {
          values.append(try short(&scanner))
        } else {
          try scanner.skipValue()
          more += 1
        }
      }
      return "[\((values + (more > 0 ? ["…\(more) more"] : [])).joined(separator: ","))]"
    default:
      let value = try scanner.skipValue()
      return cut(String(decoding: scanner.bytes[value], as: UTF8.self), to: valueByteCountMaximum)
    }
  }

  // MARK: Messages of a relay

  /// A message that came, with the bytes that it was read from.
  public init(received message: RelayMessage, in bytes: UnsafeRawBufferPointer) {
    switch message {
    case .event(let name, let range):
      let (text, _) = Self.event(UnsafeRawBufferPointer(rebasing: bytes[range]))
      self.init(.subscription, "EVENT \(Self.name(name)) \(text)", subscription: name)
    case .endOfStoredEvents(let name, let completeness):
      let more =
        switch completeness {
        case .unstated: ""
        case .finished: " finish"
        case .partial: " more"
        }
      self.init(.subscription, "EOSE \(Self.name(name))\(more)", subscription: name)
    case .closed(let name, let reason):
      self.init(.subscription, "CLOSED \(Self.name(name)) \(reason.text)", subscription: name, isEnd: true)
    case .count(let name, let count, let isApproximate, _):
      let text = "COUNT \(Self.name(name)) \(isApproximate ? "about " : "")\(count)"
      self.init(.subscription, text, subscription: name, isEnd: true)
    case .ok(let id, let isAccepted, let reason):
      self.init(.publish, "OK \(id?.description ?? "?") \(isAccepted) \(reason.text)", event: id)
    case .authentication: self.init(.auth, "AUTH")
    case .notice(let reason): self.init(.notice, "NOTICE \(reason.text)")
    case .reconciliation(let name, let message):
      self.init(.sync, "NEG-MSG \(Self.name(name)) (\(message.count) bytes)", subscription: name)
    case .reconciliationRefused(let name, let reason, _):
      self.init(.sync, "NEG-ERR \(Self.name(name)) \(reason.text)", subscription: name, isEnd: true)
    case .publications(let name, let body):
      self.init(.notice, "PUBLICATIONS \(Self.name(name)) (\(body.count) bytes)", subscription: name, isEnd: true)
    case .unknown(let label): self.init(.notice, label.isEmpty ? "a message without a name" : label)
    }
  }

  /// `9f2c… kind 1, 312 bytes`
  private static func event(_ bytes: UnsafeRawBufferPointer) -> (String, EventID?) {
    // A relay's event that cannot be read is only counted here; it is refused where it is read.
    guard let glance = try? EventGlance(bytes) else { return ("(\(bytes.count) bytes)", nil) }
    return ("\(glance.id) kind \(glance.kind), \(bytes.count) bytes", glance.id)
  }

  private static func name(_ text: String) -> String { cut(text, to: valueByteCountMaximum) }

  private static func cut(_ text: String, to byteCountMaximum: Int) -> String {
    guard text.utf8.count > byteCountMaximum else { return text }
    var kept = ""
    for scalar in text.unicodeScalars {
      if kept.utf8.count + 7 > byteCountMaximum { break }
      kept.unicodeScalars.append(scalar)
    }
    return kept + "…"
  }
}

/// The traces of the requests that the subscriptions of one connection belong to; of those that were sent while traffic
/// was logged.
public struct TrafficTraces: Sendable {
  private var subscriptions: [String: UInt64] = [:]
  private var events: [EventID: UInt64] = [:]
  /// The trace of the work that the relay last refused for want of an authentication.
  private var refused: UInt64?

  /// The most subscriptions, and the most authentications, whose traces are noted; further ones have none.
  static let countMaximum = 4_096

  /// None.
  public init() {}

  /// The trace of a message that is sent; nil: it belongs to no request.
  ///
  /// - Parameters:
  ///   - line: the message.
  ///   - work: the trace of the request that is being sent, if it is a request; of the publish, if it is an event.
  public mutating func sent(_ line: TrafficLine, for work: UInt64?) -> UInt64? {
    switch line.kind {
    case .publish: return work
    case .auth:
      if let id = line.event, let refused, events.count < Self.countMaximum { events[id] = refused }
      return refused
    case .notice, .subscription, .sync:
      guard let name = line.subscription else { return nil }
      if let work, subscriptions.count < Self.countMaximum { subscriptions[name] = work }
      defer { if line.isEnd { subscriptions[name] = nil } }
      return subscriptions[name]
    }
  }

  /// The trace of a message that came.
  ///
  /// - Parameters:
  ///   - line: the message.
  ///   - work: the trace of the publish that it answers, if it is an OK.
  public mutating func received(_ line: TrafficLine, for work: UInt64?) -> UInt64? {
    let trace = work ?? line.subscription.flatMap { subscriptions[$0] } ?? line.event.flatMap { events[$0] }
    if line.isEnd, let name = line.subscription { subscriptions[name] = nil }
    if line.kind == .publish, let id = line.event { events[id] = nil }
    if line.text.contains(Self.wantsAuthentication) { refused = trace }
    return trace
  }

  /// The word before the colon in a reason that asks for an authentication (NIP-42).
  private static let wantsAuthentication = "auth-required:"
}
