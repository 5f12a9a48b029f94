// One message of a relay, in one pass.
//
//     ["EVENT", "sub", {…}]        the event's range is passed on; its bytes are neither copied nor interpreted here
//     ["EOSE", "sub", ["finish"]]  the third element is NIP-67's
//     ["OK", "id", true, "why"]    ["CLOSED", "sub", "why"]    ["NOTICE", "text"]
//     ["AUTH", "challenge"]        ["COUNT", "sub", {"count": 5, "approximate": true}]
//     ["NEG-MSG", "sub", "6100"]   ["NEG-ERR", "sub", "why", 5000]
//     ["PUBLICATIONS", "sub", {…}]  between two Roosts
//
// Tolerant where relays are known to vary: white space, escapes in labels, a missing last text, further elements.
// Strict otherwise, because a message that is half understood is worse than a refused one.

public import JSON

/// A relay's message to its client (NIP-01, NIP-42, NIP-45, NIP-67, NIP-77). Ranges are offsets into the bytes it was
/// read from.
public enum RelayMessage: Hashable, Sendable {
  /// An event for a subscription; `event` is the range of the object.
  case event(subscription: String, event: Range<Int>)
  /// All stored events were sent.
  case endOfStoredEvents(subscription: String, completeness: Completeness)
  /// The answer to a published event. `id` is nil if the relay sent no valid id; some leave it empty.
  case ok(id: EventID?, isAccepted: Bool, reason: RelayReason)
  /// The relay ended, or refused, a subscription.
  case closed(subscription: String, reason: RelayReason)
  /// A text for people.
  case notice(RelayReason)
  /// The challenge to sign for authentication.
  case authentication(challenge: String)
  /// The answer to COUNT; `body` is the range of the whole object.
  case count(subscription: String, count: Int, isApproximate: Bool, body: Range<Int>)
  /// The next message of a reconciliation, its bytes.
  case reconciliation(subscription: String, message: [UInt8])
  /// The relay ended, or refused, a reconciliation; `recordCountMaximum` is the most records it would compare, if it
  /// says so.
  case reconciliationRefused(subscription: String, reason: RelayReason, recordCountMaximum: Int?)
  /// The answer to PUBLICATIONS, between two Roosts of one owner; `body` is the range of the object.
  case publications(subscription: String, body: Range<Int>)
  /// A label of another protocol; the message is well-formed JSON.
  case unknown(label: String)

  /// Whether a relay has more events than it sent before EOSE (NIP-67).
  public enum Completeness: Hashable, Sendable {
    /// The relay did not say.
    case unstated
    /// `finish`: there is nothing more to request.
    case finished
    /// `more`: the relay has more than it sent.
    case partial
  }

  /// Longest subscription id, in bytes, that is accepted from a relay. NIP-01 allows 64 characters.
  public static let subscriptionByteCountMaximum = 256

  /// Reads one message.
  ///
  /// - Throws: what is wrong and at which byte. `bytes` may be anything.
  public init(_ bytes: UnsafeRawBufferPointer) throws(RelayMessageFault) {
    var scanner = JSONScanner(bytes)
    var label: String?
    do throws(JSONFault) {
      try scanner.expect(UInt8(ascii: "["))
      let text = try scanner.scanString()
      label = text.content.count <= Self.labelByteCountMaximum ? text.string(in: bytes) : nil
      self = try Self.body(of: label ?? "", &scanner)
      while try scanner.take(UInt8(ascii: ",")) { try scanner.skipValue() }
      try scanner.expect(UInt8(ascii: "]"))
      try scanner.expectEnd()
    } catch {
      throw RelayMessageFault(label: label, fault: error)
    }
  }

  /// Longest label that is read as text; a longer one is an unknown message without a name.
  private static let labelByteCountMaximum = 64

  private static func body(of label: String, _ scanner: inout JSONScanner) throws(JSONFault) -> RelayMessage {
    switch label {
    case "EVENT":
      let subscription = try subscription(&scanner)
      return .event(subscription: subscription, event: try object("an event object", &scanner))
    case "EOSE":
      let subscription = try subscription(&scanner)
      return .endOfStoredEvents(subscription: subscription, completeness: try completeness(&scanner))
    case "OK": return try ok(&scanner)
    case "CLOSED":
      return .closed(subscription: try subscription(&scanner), reason: try optionalReason(&scanner))
    case "NOTICE": return .notice(try optionalReason(&scanner))
    case "AUTH":
      try scanner.expect(UInt8(ascii: ","))
      return .authentication(challenge: try scanner.scanString().string(in: scanner.bytes))
    case "COUNT": return try count(&scanner)
    case "NEG-MSG":
      let subscription = try subscription(&scanner)
      try scanner.expect(UInt8(ascii: ","))
      return .reconciliation(subscription: subscription, message: try scanner.scanHexadecimal())
    case "NEG-ERR": return try reconciliationRefused(&scanner)
    case "PUBLICATIONS":
      let subscription = try subscription(&scanner)
      return .publications(subscription: subscription, body: try object("an object", &scanner))
    default: return .unknown(label: label)
    }
  }

  private static func object(_ expected: String, _ scanner: inout JSONScanner) throws(JSONFault) -> Range<Int> {
    try scanner.expect(UInt8(ascii: ","))
    guard try scanner.peek() == UInt8(ascii: "{") else { throw JSONFault(.expected(expected), at: scanner.position) }
    return try scanner.skipValue()
  }

  /// The second element. Our ids have at most 15 bytes, which fit into a `String` without an allocation.
  private static func subscription(_ scanner: inout JSONScanner) throws(JSONFault) -> String {
    try scanner.expect(UInt8(ascii: ","))
    let text = try scanner.scanString()
    guard text.content.count <= subscriptionByteCountMaximum else {
      throw JSONFault(
        .expected("a subscription id of at most \(subscriptionByteCountMaximum) bytes"), at: text.content.lowerBound)
    }
    return text.string(in: scanner.bytes)
  }

  /// The last text, which some relays omit.
  private static func optionalReason(_ scanner: inout JSONScanner) throws(JSONFault) -> RelayReason {
    guard try scanner.take(UInt8(ascii: ",")) else { return RelayReason("") }
    guard try scanner.peek() == UInt8(ascii: "\"") else {
      try scanner.skipValue()
      return RelayReason("")
    }
    return RelayReason(try scanner.scanString().string(in: scanner.bytes))
  }

  private static func ok(_ scanner: inout JSONScanner) throws(JSONFault) -> RelayMessage {
    try scanner.expect(UInt8(ascii: ","))
    let text = try scanner.scanString()
    let id = text.hasEscapes ? nil : EventID(hex: scanner.bytes[text.content])
    try scanner.expect(UInt8(ascii: ","))
    let isAccepted = try scanner.scanBoolean()
    return .ok(id: id, isAccepted: isAccepted, reason: try optionalReason(&scanner))
  }

  private static func reconciliationRefused(_ scanner: inout JSONScanner) throws(JSONFault) -> RelayMessage {
    let subscription = try subscription(&scanner)
    let reason = try optionalReason(&scanner)
    var maximum: Int?
    if try scanner.take(UInt8(ascii: ",")) {
      if try scanner.peek() &- 0x30 < 10 {
        maximum = try scanner.scanUnsignedInteger()
      } else {
        try scanner.skipValue()
      }
    }
    return .reconciliationRefused(subscription: subscription, reason: reason, recordCountMaximum: maximum)
  }

  private static func completeness(_ scanner: inout JSONScanner) throws(JSONFault) -> Completeness {
    guard try scanner.take(UInt8(ascii: ",")) else { return .unstated }
    guard try scanner.peek() == UInt8(ascii: "[") else {
      try scanner.skipValue()
      return .unstated
    }
    try scanner.expect(UInt8(ascii: "["))
    var completeness = Completeness.unstated
    if try scanner.take(UInt8(ascii: "]")) { return completeness }
    repeat {
      guard try scanner.peek() == UInt8(ascii: "\"") else {
        try scanner.skipValue()
        continue
      }
      let hint = try scanner.scanString()
      if hint.equals("finish", in: scanner.bytes) { completeness = .finished }
      if hint.equals("more", in: scanner.bytes) { completeness = .partial }
    } while try scanner.take(UInt8(ascii: ","))
    try scanner.expect(UInt8(ascii: "]"))
    return completeness
  }

  private static func count(_ scanner: inout JSONScanner) throws(JSONFault) -> RelayMessage {
    let subscription = try subscription(&scanner)
    try scanner.expect(UInt8(ascii: ","))
    var count: Int?
    var isApproximate = false
    _ = try scanner.peek()
    let start = scanner.position
    try scanner.expect(UInt8(ascii: "{"))
    if try !scanner.take(UInt8(ascii: "}")) {
      repeat {
        let key = try scanner.scanString()
        try scanner.expect(UInt8(ascii: ":"))
        if key.equals("count", in: scanner.bytes) {
          count = try scanner.scanUnsignedInteger()
        } else if key.equals("approximate", in: scanner.bytes) {
          isApproximate = try scanner.scanBoolean()
        } else {
          try scanner.skipValue()
        }
      } while try scanner.take(UInt8(ascii: ","))
      try scanner.expect(UInt8(ascii: "}"))
    }
    guard let count else { throw JSONFault(.expected("a \"count\""), at: start) }
    return .count(
      subscription: subscription, count: count, isApproximate: isApproximate, body: start..<scanner.position)
  }
}

/// Why a relay's message was not understood.
public struct RelayMessageFault: Error, Hashable, Sendable, CustomStringConvertible {
  /// The message's label, if it could be read.
  public let label: String?
  /// What is wrong, and at which byte of the message.
  public let fault: JSONFault

  /// `EVENT message: expected ',' at byte 12`.
  public var description: String { "\(label.map { "\($0) message" } ?? "relay message"): \(fault)" }
}
