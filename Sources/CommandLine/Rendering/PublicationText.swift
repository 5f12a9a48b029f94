public import Frames
public import Contracts
internal import Wording

/// Publications for people: their state at each relay.
public enum PublicationText {
  /// `2 of 3 relays have it`, `1 of 3 relays has it`; with a single relay `1 relay has it` or `no relay has it`.
  public static func summary(_ publication: Publication) -> String {
    let taken = publication.targets.count { $0.state == .confirmed }
    let all = publication.targets.count
    if all <= 1 { return taken == 1 ? "1 relay has it" : "no relay has it" }
    return "\(taken) of \(all) relays \(taken == 1 ? "has" : "have") it"
  }

  /// The line for a user who stops waiting for a publication, which continues.
  ///
  /// - Parameters:
  ///   - note: the event's id as `note1…`.
  ///   - publication: its present state; nil if the planner has not said whether it is queued.
  public static func interrupted(_ note: String, _ publication: Publication?) -> String {
    let cancel = "'roost queue cancel \(note)' calls it off"
    guard let publication else {
      return "It may be queued as \(note), and is sent then; 'roost queue show \(note)' tells, and \(cancel)."
    }
    let taken = publication.targets.count { $0.state == .confirmed }
    let sent = taken == 0 ? "will be sent" : "continues: \(summary(publication)) so far"
    return "It is queued as \(note), and \(sent); \(cancel)."
  }

  /// The refusal of an event that was handed over, if its outcome is unknown. It warns against repeating the command:
  /// that would sign another event, and publish the same text twice.
  ///
  /// - Parameters:
  ///   - refusal: the refusal as it came.
  ///   - note: the event's id as `note1…`.
  ///   - look: the command that shows the outcome; `roost queue show note1…` if nil.
  /// - Returns: the same refusal if the outcome is known.
  public static func unknown(_ refusal: Refusal, of note: String, look: String? = nil) -> Refusal {
    guard refusal.outcome == .unknown else { return refusal }
    var told = refusal
    told.retryAfterMilliseconds = nil
    let look = look ?? "roost queue show \(note)"
    told.message +=
      "\nthe event is \(note); do not repeat the command, which would make another event:\n'\(look)' tells what became of it"
    return told
  }

  /// The line about a relay; nil if its state neither ends nor explains anything.
  static func news(_ target: PublicationTarget, _ style: Style) -> String? {
    let relay = VisibleText.make(target.relay)
    let words = target.message.map { ": \(VisibleText.make(withoutRelay($0, target.relay)))" } ?? ""
    switch target.state {
    case .confirmed: return "\(style.paint("has it", .good))  \(relay)"
    case .failed: return "\(style.paint("failed", .bad))  \(relay)\(words)"
    case .cancelled: return "\(style.paint("called off", .dim))  \(relay)"
    case .pending: return target.message == nil ? nil : "\(style.paint("waits ", .warning))  \(relay)\(words)"
    case .sent: return nil
    }
  }

  /// A relay's message without the relay's address in front, which the line already has.
  private static func withoutRelay(_ message: String, _ relay: String) -> String {
    for prefix in ["\(relay) ", "\(relay): "] where message.hasPrefix(prefix) {
      return String(message.dropFirst(prefix.count))
    }
    return message
  }

  /// A table of publications, in the order given.
  public static func lines(_ publications: [Publication], now: Int64, _ style: Style) -> [String] {
    guard !publications.isEmpty else { return ["Nothing was published, or nothing of that kind is left."] }
    var table = TextTable([
      TextTable.Column(title: "ID", columnsMaximum: 64), TextTable.Column(title: "STATE"),
      TextTable.Column(title: "KIND", alignment: .right, isSpareable: true),
      TextTable.Column(title: "AGE", alignment: .right), TextTable.Column(title: "RELAYS", alignment: .right),
      TextTable.Column(title: "LAST WORD"),
    ])
    for publication in publications {
      let taken = publication.targets.count { $0.state == .confirmed }
      let word = publication.targets.first { $0.state != .confirmed && $0.message != nil }
      table.append([
        TextTable.Cell(publication.id, .dim), TextTable.Cell(publication.state.rawValue, tone(publication.state)),
        TextTable.Cell("\(publication.kind)"), TextTable.Cell(age(publication.acceptedAt, now)),
        TextTable.Cell("\(taken)/\(publication.targets.count)"), TextTable.Cell(word?.message ?? ""),
      ])
    }
    return table.lines(style)
  }

  /// One publication with each of its relays.
  public static func lines(_ publication: Publication, now: Int64, _ style: Style) -> [String] {
    var lines = [
      "\(publication.id)  \(style.paint(publication.state.rawValue, tone(publication.state)))",
      style.paint(
        "  kind \(publication.kind), accepted \(age(publication.acceptedAt, now)) ago, \(rest(publication, now))", .dim),
    ]
    var table = TextTable([
      TextTable.Column(title: "RELAY", columnsMaximum: 60), TextTable.Column(title: "STATE"),
      TextTable.Column(title: "TRIED", alignment: .right), TextTable.Column(title: "NEXT", alignment: .right),
      TextTable.Column(title: "WHY", columnsMaximum: 30, isSpareable: true), TextTable.Column(title: "LAST WORD"),
    ])
    for target in publication.targets {
      let next = target.nextAttemptAt.map { "in \(age(now, $0))" } ?? ""
      table.append([
        TextTable.Cell(target.relay), TextTable.Cell(target.state.rawValue, tone(target.state)),
        TextTable.Cell("\(target.attempts)"), TextTable.Cell(next), TextTable.Cell(target.why, .dim),
        TextTable.Cell(target.message ?? ""),
      ])
    }
    lines += table.lines(style)
    return lines
  }

  /// What `roost queue retry --older-than` did.
  public static func retried(_ retried: RetriedPublications, now: Int64, _ style: Style) -> [String] {
    guard let oldest = retried.oldestAt else { return ["Nothing has waited for a relay for so long."] }
    let relays = retried.relays == 1 ? "relay" : "relays"
    let events = retried.publications == 1 ? "1 event" : "\(retried.publications) events"
    return [
      "\(style.paint(events, .warning)) for \(retried.relays) \(relays) tried again; the oldest was accepted "
        + "\(age(oldest, now)) ago."
    ]
  }

  private static func rest(_ publication: Publication, _ now: Int64) -> String {
    if publication.state.isFinal { return summary(publication) }
    return "given up in \(age(now, publication.expiresAt)) where it is not taken"
  }

  private static func age(_ from: Int64, _ to: Int64) -> String {
    let seconds = UInt64(clamping: max(0, to - from))
    return Amount.duration(milliseconds: seconds.multipliedReportingOverflow(by: 1_000).partialValue)
  }

  private static func tone(_ state: Publication.State) -> Tone {
    switch state {
    case .optimistic, .partial: .warning
    case .confirmed: .good
    case .failed: .bad
    case .cancelled: .dim
    }
  }

  private static func tone(_ state: PublicationTarget.State) -> Tone {
    switch state {
    case .pending, .sent: .warning
    case .confirmed: .good
    case .failed: .bad
    case .cancelled: .dim
    }
  }
}

/// The lines for a user who waits for a publication: one for each relay whenever its state differs from the last line.
///
/// A relay that cannot be reached is tried again and again, may be `sent` in between, and waits each time for the same
/// reason: that is reported once.
public struct PublicationNews: Sendable {
  private var told: [String: String] = [:]

  /// A state in which nothing was reported.
  public init() {}

  /// A line for each relay with a change.
  public mutating func lines(_ publication: Publication, _ style: Style) -> [String] {
    publication.targets.compactMap { target in
      guard let line = PublicationText.news(target, style), told[target.relay] != line else { return nil }
      told[target.relay] = line
      return line
    }
  }
}
