internal import Cryptography
public import JSON

/// The filters of one REQ, as raw JSON that is checked to be well-formed: `{…}` or `{…},{…}`.
public struct RawFilters: Hashable, Sendable {
  /// The filter objects, separated by commas, without surrounding brackets; white space unchanged.
  public let bytes: [UInt8]
  /// How many filters there are; at least 1.
  public let count: Int
  /// The most stored events that the filters request; nil if they set no limit, or it is not known.
  public let eventCountMaximum: Int?

  /// The most filters in one REQ.
  public static let countMaximum = 100

  /// Takes a JSON array of filter objects, or one filter object. The relay checks what is inside the objects.
  public init(json: [UInt8]) throws(JSONFault) {
    let result = json.withUnsafeBytes { bytes -> Result<(Range<Int>, Int), JSONFault> in
      do throws(JSONFault) {
        return .success(try Self.scan(bytes))
      } catch {
        return .failure(error)
      }
    }
    let (range, count) = try result.get()
    bytes = Array(json[range])
    self.count = count
    eventCountMaximum = nil
  }

  /// Filters in a form that more relays understand, without those that match nothing; nil if no filter is left, or more
  /// than ``countMaximum``.
  ///
  /// The order of filters has no meaning (NIP-01), but some relays (nostr-relay does) apply the limit of the last
  /// filter to all of them: so the filter with the largest limit comes last. And nostr-relay treats a filter without
  /// conditions as matching nothing: so such a filter gets `since` 0.
  public init?(matchingSomething filters: [Filter]) {
    let wanted = filters.filter { !$0.matchesNothing }
    guard (1...Self.countMaximum).contains(wanted.count) else { return nil }
    let ordered = wanted.enumerated().sorted { left, right in
      (left.element.limit ?? .max, left.offset) < (right.element.limit ?? .max, right.offset)
    }
    let texts = ordered.map { _, filter in
      filter == Filter(limit: filter.limit) ? Filter(since: 0, limit: filter.limit).json : filter.json
    }
    bytes = Array(texts.joined(separator: [UInt8(ascii: ",")]))
    count = wanted.count
    let limits = wanted.compactMap { filter in [filter.limit, filter.ids?.count].compactMap { $0 }.min() }
    let sum = limits.reduce(0) { sum, limit in
      let (next, isTooMuch) = sum.addingReportingOverflow(limit)
      return isTooMuch ? .max : next
    }
    eventCountMaximum = limits.count == wanted.count ? sum : nil
  }

  private static func scan(_ bytes: UnsafeRawBufferPointer) throws(JSONFault) -> (Range<Int>, Int) {
    var scanner = JSONScanner(bytes)
    if try scanner.peek() == UInt8(ascii: "{") {
      let range = try scanner.skipValue()
      try scanner.expectEnd()
      return (range, 1)
    }
    try scanner.expect(UInt8(ascii: "["))
    let start = scanner.position
    var end = start
    var count = 0
    repeat {
      guard try scanner.peek() == UInt8(ascii: "{"), count < countMaximum else {
        throw JSONFault(.expected("at least 1 and at most \(countMaximum) filter objects"), at: scanner.position)
      }
      end = try scanner.skipValue().upperBound
      count += 1
    } while try scanner.take(UInt8(ascii: ","))
    try scanner.expect(UInt8(ascii: "]"))
    try scanner.expectEnd()
    return (start..<end, count)
  }
}

/// A client's message to a relay (NIP-01, NIP-42, NIP-45, NIP-77): written as bytes for a text frame, and, with
/// ``init(_:)``, read as a relay reads it. Ranges are offsets into the bytes it was read from.
public enum ClientMessage: Hashable, Sendable {
  /// An event to publish; `event` is the range of the object. Only its being a JSON object was checked.
  case event(event: Range<Int>)
  /// A REQ: stored events that match one of the filters, and events that arrive later.
  case subscription(id: String, filters: [Filter])
  /// A CLOSE.
  case closing(id: String)
  /// The signed answer to a challenge; `event` is the range of the object.
  case authentication(event: Range<Int>)
  /// A COUNT: how many events match one of the filters.
  case counting(id: String, filters: [Filter])
  /// A NEG-OPEN: starts a reconciliation of the events that match the filter, with its first message. Its ids are
  /// separate from those of REQ.
  case reconciliation(id: String, filter: Filter, message: [UInt8])
  /// The next message of a reconciliation.
  case reconciliationMessage(id: String, message: [UInt8])
  /// The end of a reconciliation.
  case reconciliationEnd(id: String)
  /// PUBLICATIONS, between two Roosts of one owner: what was published; `body` is the range of the object.
  case publications(id: String, body: Range<Int>)
  /// A label of another protocol; the message is well-formed JSON.
  case unknown(label: String)

  /// `["REQ","sub",{…},{…}]`
  public static func request(subscription: String, _ filters: RawFilters) -> [UInt8] {
    message("REQ", subscription, filters.bytes)
  }

  /// `["COUNT","sub",{…}]`
  public static func count(subscription: String, _ filters: RawFilters) -> [UInt8] {
    message("COUNT", subscription, filters.bytes)
  }

  /// `["CLOSE","sub"]`
  public static func close(subscription: String) -> [UInt8] { message("CLOSE", subscription, []) }

  /// `["EVENT",{…}]`, with the event's bytes unchanged; the caller guarantees that they are one JSON object.
  public static func publish(_ event: some Collection<UInt8>) -> [UInt8] { message("EVENT", nil, event) }

  /// `["AUTH",{…}]`, with the signed event's bytes unchanged.
  public static func authenticate(_ event: some Collection<UInt8>) -> [UInt8] { message("AUTH", nil, event) }

  /// `["NEG-OPEN","sub",{…},"6100"]`
  public static func openReconciliation(subscription: String, _ filter: Filter, message bytes: [UInt8]) -> [UInt8] {
    message("NEG-OPEN", subscription, filter.json + [UInt8(ascii: ",")] + quoted(bytes))
  }

  /// `["NEG-MSG","sub","6100"]`
  public static func continueReconciliation(subscription: String, message bytes: [UInt8]) -> [UInt8] {
    message("NEG-MSG", subscription, quoted(bytes))
  }

  /// `["NEG-CLOSE","sub"]`
  public static func closeReconciliation(subscription: String) -> [UInt8] { message("NEG-CLOSE", subscription, []) }

  /// `["PUBLICATIONS","sub",{…}]`, with the bytes of one JSON object.
  public static func publications(subscription: String, _ body: some Collection<UInt8>) -> [UInt8] {
    message("PUBLICATIONS", subscription, body)
  }

  private static func quoted(_ bytes: [UInt8]) -> [UInt8] {
    [UInt8(ascii: "\"")] + Hexadecimal.encode(bytes) + [UInt8(ascii: "\"")]
  }

  private static func message(_ label: String, _ subscription: String?, _ rest: some Collection<UInt8>) -> [UInt8] {
    var json: [UInt8] = []
    json.reserveCapacity(label.utf8.count + (subscription?.utf8.count ?? 0) + rest.count + 8)
    json.append(UInt8(ascii: "["))
    JSONString.append(label, to: &json)
    if let subscription {
      json.append(UInt8(ascii: ","))
      JSONString.append(subscription, to: &json)
    }
    if !rest.isEmpty {
      json.append(UInt8(ascii: ","))
      json.append(contentsOf: rest)
    }
    json.append(UInt8(ascii: "]"))
    return json
  }
}
