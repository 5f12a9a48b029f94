internal import Cryptography
internal import JSON

// A relay's messages as bytes for a text frame. Texts are escaped here; events are passed on unchanged.

extension RelayMessage {
  /// `["EVENT","sub",{…}]`
  ///
  /// - Parameters:
  ///   - subscription: the client's id for it.
  ///   - event: the event's bytes; the caller guarantees that they are one JSON object.
  public static func writeEvent(_ event: some Collection<UInt8>, subscription: String) -> [UInt8] {
    var json: [UInt8] = []
    json.reserveCapacity(event.count + subscription.utf8.count + 16)
    begin("EVENT", subscription, &json)
    json.append(UInt8(ascii: ","))
    json.append(contentsOf: event)
    json.append(UInt8(ascii: "]"))
    return json
  }

  /// `["EVENT","sub",`, to be followed by the event and `]`. For sending many events to one subscription.
  public static func eventHead(subscription: String) -> [UInt8] {
    var json: [UInt8] = []
    begin("EVENT", subscription, &json)
    json.append(UInt8(ascii: ","))
    return json
  }

  /// `["EOSE","sub"]`, followed by `["finish"]` or `["more"]` if that is known (NIP-67).
  public static func writeEndOfStoredEvents(subscription: String, completeness: Completeness = .unstated) -> [UInt8] {
    var json: [UInt8] = []
    begin("EOSE", subscription, &json)
    switch completeness {
    case .unstated: break
    case .finished: json.append(contentsOf: ",[\"finish\"]".utf8)
    case .partial: json.append(contentsOf: ",[\"more\"]".utf8)
    }
    json.append(UInt8(ascii: "]"))
    return json
  }

  /// `["OK","id",true,"why"]`
  ///
  /// - Parameters:
  ///   - isAccepted: whether the relay accepted the event.
  ///   - id: the event's.
  ///   - reason: may be empty if the event was accepted; otherwise a word, a colon and a sentence (NIP-01).
  public static func writeOK(id: EventID, isAccepted: Bool, reason: RelayReason) -> [UInt8] {
    var json: [UInt8] = []
    begin("OK", id.description, &json)
    json.append(contentsOf: (isAccepted ? ",true" : ",false").utf8)
    end(reason.text, &json)
    return json
  }

  /// `["CLOSED","sub","why"]`
  ///
  /// - Parameters:
  ///   - subscription: the client's id for it.
  ///   - reason: a word, a colon and a sentence (NIP-01).
  public static func writeClosed(subscription: String, reason: RelayReason) -> [UInt8] {
    var json: [UInt8] = []
    begin("CLOSED", subscription, &json)
    end(reason.text, &json)
    return json
  }

  /// `["NOTICE","text"]`
  public static func writeNotice(_ reason: RelayReason) -> [UInt8] {
    var json: [UInt8] = []
    begin("NOTICE", reason.text, &json)
    json.append(UInt8(ascii: "]"))
    return json
  }

  /// `["AUTH","challenge"]` (NIP-42)
  public static func writeAuthentication(challenge: String) -> [UInt8] {
    var json: [UInt8] = []
    begin("AUTH", challenge, &json)
    json.append(UInt8(ascii: "]"))
    return json
  }

  /// `["COUNT","sub",{"count":5}]`, with `"approximate":true` if it is approximate (NIP-45).
  public static func writeCount(subscription: String, count: Int, isApproximate: Bool = false) -> [UInt8] {
    precondition(count >= 0, "a count is not negative")
    var json: [UInt8] = []
    begin("COUNT", subscription, &json)
    json.append(contentsOf: ",{\"count\":\(count)\(isApproximate ? ",\"approximate\":true" : "")}]".utf8)
    return json
  }

  /// `["PUBLICATIONS","sub",{…}]`, with the bytes of one JSON object.
  public static func writePublications(_ body: some Collection<UInt8>, subscription: String) -> [UInt8] {
    var json: [UInt8] = []
    begin("PUBLICATIONS", subscription, &json)
    json.append(UInt8(ascii: ","))
    json.append(contentsOf: body)
    json.append(UInt8(ascii: "]"))
    return json
  }

  /// `["NEG-MSG","sub","6100"]` (NIP-77)
  public static func writeReconciliation(subscription: String, message: [UInt8]) -> [UInt8] {
    var json: [UInt8] = []
    json.reserveCapacity(2 * message.count + subscription.utf8.count + 16)
    begin("NEG-MSG", subscription, &json)
    json.append(contentsOf: ",\"".utf8)
    json.append(contentsOf: Hexadecimal.encode(message))
    json.append(contentsOf: "\"]".utf8)
    return json
  }

  /// `["NEG-ERR","sub","why"]`, followed by the most records that the relay compares if there is a limit (NIP-77).
  ///
  /// - Parameters:
  ///   - recordCountMaximum: the most records that the relay reconciles; nil to omit it.
  ///   - subscription: the client's id for it.
  ///   - reason: `blocked` or `closed` or another word, a colon and a sentence.
  public static func writeReconciliationRefused(
    subscription: String, reason: RelayReason, recordCountMaximum: Int? = nil
  ) -> [UInt8] {
    precondition(recordCountMaximum ?? 0 >= 0, "a bound is not negative")
    var json: [UInt8] = []
    begin("NEG-ERR", subscription, &json)
    json.append(UInt8(ascii: ","))
    JSONString.append(reason.text, to: &json)
    if let recordCountMaximum { json.append(contentsOf: ",\(recordCountMaximum)".utf8) }
    json.append(UInt8(ascii: "]"))
    return json
  }

  private static func begin(_ label: StaticString, _ text: String, _ json: inout [UInt8]) {
    json.append(contentsOf: "[\"\(label)\",".utf8)
    JSONString.append(text, to: &json)
  }

  private static func end(_ reason: String, _ json: inout [UInt8]) {
    json.append(UInt8(ascii: ","))
    JSONString.append(reason, to: &json)
    json.append(UInt8(ascii: "]"))
  }
}
