public import Contracts
internal import Cryptography
internal import Frames
internal import JSON
internal import Nostr

/// What a relay says about itself, or why that is not known.
public enum RelayWords: Sendable {
  /// Its information document (NIP-11).
  case document(RelayInformationResult)
  /// A sentence.
  case unknown(String)
}

/// What a relay says about itself, as `roost relay info` shows it: foreign claims, each line made harmless.
enum RelayInformationText {
  private static let columns = 64
  private static let lineMaximum = 6

  /// Labels and the text after them; an empty label continues the one before.
  static func rows(_ words: RelayWords, now: Int64) -> [(String, String)] {
    guard case .document(let result) = words else {
      if case .unknown(let why) = words { return [("says", "nothing: \(why)")] }
      return []
    }
    guard let information = read(result.document) else { return [("says", "nothing that can be read")] }
    let age = UInt64(max(0, now - result.fetchedAt))
    let when = age < 2 ? "just now" : "\(Amount.duration(milliseconds: age * 1_000)) ago"
    var rows = [("says", "of itself, fetched \(when):")]
    func add(_ label: String, _ text: String?) {
      guard let text else { return }
      let lines = WrappedText.lines(text, columns: columns, lineMaximum: lineMaximum)
      for (index, line) in lines.enumerated() { rows.append((index == 0 ? label : "", line)) }
    }
    add("name", information.name)
    add("about", information.description)
    add("contact", information.contact)
    add("owner", information.pubkey?.npub)
    add("own key", information.ownKey?.npub)
    add("software", software(information))
    add("NIPs", information.supportedNIPs.map { $0.isEmpty ? "none" : $0.map(String.init).joined(separator: ", ") })
    if let limitation = information.limitation {
      add("wants", demands(limitation))
      add("bounds", bounds(limitation))
    }
    add("costs", information.fees.flatMap(costs))
    add("pay at", information.paymentsURL)
    add("terms", information.termsOfService)
    for complaint in result.dropped { add("ignored", complaint) }
    add("in force", result.bounds.map { inForce($0) })
    return rows
  }

  /// The bounds that Roost obeys there, each with its source.
  private static func inForce(_ bounds: [RelayInformationResult.Bound]) -> String {
    bounds.map { bound in
      let text =
        switch bound.name {
        case "max_subscriptions": Amount.count(bound.value, "subscription")
        case "max_message_length": "messages of \(Amount.bytes(UInt64(clamping: bound.value)))"
        case "max_limit": "\(Amount.count(bound.value, "event")) a filter"
        case "default_limit": "\(bound.value) without a limit"
        default: "\(bound.name) \(bound.value)"
        }
      return "\(text) (\(bound.source.rawValue))"
    }.joined(separator: ", ")
  }

  /// The information; nil if it cannot be read, which the caller reports.
  private static func read(_ document: JSONValue) -> RelayInformation? {
    do throws(JSONFault) { return try RelayInformation.read(JSONPayload.encode(document)).0 } catch { return nil }
  }

  private static func software(_ information: RelayInformation) -> String? {
    let parts = [information.software, information.version].compactMap(\.self)
    return parts.isEmpty ? nil : parts.joined(separator: ", version ")
  }

  private static func demands(_ limitation: RelayInformation.Limitation) -> String? {
    let demands = [
      limitation.requiresAuthentication == true ? "to know who asks (AUTH)" : nil,
      limitation.requiresPayment == true ? "to be paid" : nil,
      limitation.restrictsWrites == true ? "events of some people or kinds only" : nil,
      limitation.proofOfWorkMinimum.flatMap { $0 > 0 ? "\($0) bits of work for an event" : nil },
    ].compactMap(\.self)
    return demands.isEmpty ? nil : demands.joined(separator: "; ")
  }

  private static func bounds(_ limitation: RelayInformation.Limitation) -> String? {
    func some(_ number: Int?, _ words: (Int) -> String) -> String? { number.map(words) }
    let bounds = [
      some(limitation.subscriptionMaximum) { Amount.count($0, "subscription") },
      some(limitation.limitMaximum) { "\(Amount.count($0, "event")) a filter" },
      some(limitation.limitDefault) { "\($0) without a limit" },
      some(limitation.messageByteCountMaximum) { "messages of \(Amount.bytes(UInt64($0)))" },
      some(limitation.contentLengthMaximum) { "contents of \(Amount.count($0, "character"))" },
      some(limitation.tagMaximum) { "\(Amount.count($0, "tag")) an event" },
      some(limitation.subscriptionNameLengthMaximum) { "subscription names of \($0)" },
      some(limitation.pastSecondsMaximum) { "events no older than \(span($0))" },
      some(limitation.futureSecondsMaximum) { "no more than \(span($0)) ahead" },
    ].compactMap(\.self)
    return bounds.isEmpty ? nil : bounds.joined(separator: ", ")
  }

  private static func costs(_ fees: RelayInformation.Fees) -> String? {
    let prices =
      fees.admission.map { price($0) + " to be let in" } + fees.subscription.map { price($0) }
      + fees.publication.map { price($0) + " an event" }
    return prices.isEmpty ? nil : prices.joined(separator: "; ")
  }

  private static func price(_ fee: RelayInformation.Fees.Fee) -> String {
    let kinds = (fee.kinds ?? []).map(String.init).joined(separator: ", ")
    return "\(fee.amount) \(fee.unit)" + (fee.period.map { " for \(span($0))" } ?? "")
      + (kinds.isEmpty ? "" : " (kinds \(kinds))")
  }

  private static func span(_ seconds: Int) -> String {
    let (milliseconds, overflow) = UInt64(clamping: seconds).multipliedReportingOverflow(by: 1_000)
    return Amount.duration(milliseconds: overflow ? .max : milliseconds)
  }
}

/// `roost relay info --json`: the relay as in `roost relay list --json`, and what it says about itself.
public struct RelayInfoJSON: Encodable {
  private let relay: PlanRelayList.Relay
  private let words: RelayWords

  private enum Name: String, CodingKey {
    case information, noInformation
  }

  /// A relay, and what it says about itself.
  public init(_ relay: PlanRelayList.Relay, _ words: RelayWords) {
    self.relay = relay
    self.words = words
  }

  /// Writes the members of the relay, and `information` or, with the reason, `noInformation`.
  public func encode(to encoder: any Encoder) throws {
    try relay.encode(to: encoder)
    var container = encoder.container(keyedBy: Name.self)
    switch words {
    case .document(let result): try container.encode(result, forKey: .information)
    case .unknown(let why): try container.encode(why, forKey: .noInformation)
    }
  }
}
