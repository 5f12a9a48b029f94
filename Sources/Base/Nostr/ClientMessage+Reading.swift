// A client's message, in one pass, as a relay reads it.
//
//     ["EVENT", {…}]     ["AUTH", {…}]                the event's range is passed on, as in RelayMessage
//     ["REQ", "sub", {…}, {…}]   ["COUNT", "sub", {…}]   ["CLOSE", "sub"]
//     ["NEG-OPEN", "sub", {…}, "6100"]   ["NEG-MSG", "sub", "6100"]   ["NEG-CLOSE", "sub"]
//     ["PUBLICATIONS", "sub", {…}]                    between two Roosts
//
// A fault names the subscription it concerns, if that could be read: a client that sent a REQ waits for EOSE or CLOSED
// with its subscription id, and would keep waiting after a NOTICE.

public import JSON

extension ClientMessage {
  /// Longest subscription id, in characters (Unicode scalars) (NIP-01).
  public static let subscriptionCharacterCountMaximum = 64

  /// Reads one message.
  ///
  /// - Parameter bytes: anything at all; the caller bounds its length.
  public init(_ bytes: UnsafeRawBufferPointer) throws(ClientMessageFault) {
    var reading = ClientMessageReading(scanner: JSONScanner(bytes))
    do {
      self = try reading.read()
    } catch let fault as JSONFault {
      throw reading.fault(.notJSON(fault))
    } catch let fault as FilterFault {
      throw reading.fault(.badFilter(fault))
    } catch let problem as ClientMessageFault.Problem {
      throw reading.fault(problem)
    } catch {
      preconditionFailure("no other error is thrown here: \(error)")
    }
  }
}

/// The state of one pass.
private struct ClientMessageReading {
  var scanner: JSONScanner
  private var label: String?
  private var subscription: String?

  init(scanner: JSONScanner) { self.scanner = scanner }

  func fault(_ problem: ClientMessageFault.Problem) -> ClientMessageFault {
    ClientMessageFault(label: label, subscription: subscription, problem: problem)
  }

  mutating func read() throws -> ClientMessage {
    try scanner.expect(UInt8(ascii: "["))
    let text = try scanner.scanString()
    let label = text.content.count <= Self.labelByteCountMaximum ? text.string(in: scanner.bytes) : ""
    self.label = label
    let message = try body(of: label)
    while try scanner.take(UInt8(ascii: ",")) { try scanner.skipValue() }
    try scanner.expect(UInt8(ascii: "]"))
    try scanner.expectEnd()
    return message
  }

  /// Longest label that is read as text; a longer one is an unknown message without a name.
  private static let labelByteCountMaximum = 64

  private mutating func body(of label: String) throws -> ClientMessage {
    switch label {
    case "EVENT": return .event(event: try object("an event object"))
    case "AUTH": return .authentication(event: try object("an event object"))
    case "REQ":
      let id = try name()
      return .subscription(id: id, filters: try filters())
    case "COUNT":
      let id = try name()
      return .counting(id: id, filters: try filters())
    case "CLOSE": return .closing(id: try name())
    case "NEG-OPEN":
      let id = try name()
      try scanner.expect(UInt8(ascii: ","))
      let filter = try Filter(&scanner)
      return .reconciliation(id: id, filter: filter, message: try hexadecimal())
    case "NEG-MSG":
      let id = try name()
      return .reconciliationMessage(id: id, message: try hexadecimal())
    case "NEG-CLOSE": return .reconciliationEnd(id: try name())
    case "PUBLICATIONS":
      let id = try name()
      return .publications(id: id, body: try object("an object"))
    default: return .unknown(label: label)
    }
  }

  private mutating func object(_ expected: String) throws -> Range<Int> {
    try scanner.expect(UInt8(ascii: ","))
    guard try scanner.peek() == UInt8(ascii: "{") else {
      throw JSONFault(.expected(expected), at: scanner.position)
    }
    return try scanner.skipValue()
  }

  /// The subscription's id. An id that is too long is not kept, not even to name it in the refusal.
  private mutating func name() throws -> String {
    try scanner.expect(UInt8(ascii: ","))
    let text = try scanner.scanString()
    let maximum = ClientMessage.subscriptionCharacterCountMaximum
    // No character takes more than twelve bytes, as `\ud83d\ude00` does.
    guard text.content.count <= 12 * maximum else { throw ClientMessageFault.Problem.badSubscription }
    let name = text.string(in: scanner.bytes)
    guard (1...maximum).contains(name.unicodeScalars.count) else { throw ClientMessageFault.Problem.badSubscription }
    subscription = name
    return name
  }

  private mutating func filters() throws -> [Filter] {
    var filters: [Filter] = []
    while try scanner.take(UInt8(ascii: ",")) {
      guard filters.count < RawFilters.countMaximum else { throw ClientMessageFault.Problem.tooManyFilters }
      filters.append(try Filter(&scanner))
    }
    guard !filters.isEmpty else { throw ClientMessageFault.Problem.noFilter }
    return filters
  }

  private mutating func hexadecimal() throws -> [UInt8] {
    try scanner.expect(UInt8(ascii: ","))
    return try scanner.scanHexadecimal()
  }
}

/// Why a client's message is refused.
public struct ClientMessageFault: Error, Hashable, Sendable, CustomStringConvertible {
  /// What is wrong with it.
  public enum Problem: Error, Hashable, Sendable {
    /// Not JSON, or not of the label's shape.
    case notJSON(JSONFault)
    /// A subscription id without characters, or with more than ``ClientMessage/subscriptionCharacterCountMaximum``.
    case badSubscription
    /// Not a filter.
    case badFilter(FilterFault)
    /// A REQ or COUNT without a filter.
    case noFilter
    /// More filters than ``RawFilters/countMaximum``.
    case tooManyFilters
  }

  /// The message's label, if it could be read.
  public let label: String?
  /// The subscription it concerns, if that could be read: then the answer is CLOSED, or NEG-ERR, with that id.
  public let subscription: String?
  /// What is wrong.
  public let problem: Problem

  /// The reason for CLOSED, NEG-ERR or NOTICE: `unsupported: …` for a filter with unknown conditions, `invalid: …` for
  /// everything else.
  public var reason: RelayReason {
    if case .badFilter(.unknownField) = problem { return RelayReason("unsupported: \(complaint)") }
    return RelayReason("invalid: \(complaint)")
  }

  /// `REQ message: it has no filter`
  public var description: String { "\(label.map { "\($0) message" } ?? "client message"): \(complaint)" }

  private var complaint: String {
    switch problem {
    case .notJSON(let fault): "\(fault)"
    case .badSubscription:
      "its subscription id has not 1 to \(ClientMessage.subscriptionCharacterCountMaximum) characters"
    case .badFilter(let fault): "\(fault)"
    case .noFilter: "it has no filter"
    case .tooManyFilters: "it has more than \(RawFilters.countMaximum) filters"
    }
  }
}
