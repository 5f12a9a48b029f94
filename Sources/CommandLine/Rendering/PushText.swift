public import Contracts
internal import Cryptography
internal import Frames
internal import Nostr
internal import Wording

/// The push relay as `roost push` shows it.
public enum PushText {
  /// The platforms, and the outcomes of wakes.
  ///
  /// - Parameters:
  ///   - status: the answer of the push relay.
  ///   - now: seconds since 1970.
  ///   - style: whether colours are used.
  public static func status(_ status: PushStatus, now: Int64, _ style: Style) -> [String] {
    var table = TextTable([
      .init(title: "PLATFORM"), .init(title: "STATE"), .init(title: "UNDER WAY", alignment: .right),
      .init(title: "DELIVERED", alignment: .right), .init(title: "REPEATED", alignment: .right, isSpareable: true),
      .init(title: "FAILED", alignment: .right), .init(title: "EXPIRED", alignment: .right),
      .init(title: "FORGOTTEN", alignment: .right), .init(title: "WHY"),
    ])
    for platform in status.platforms {
      table.append([
        .init(PushPlatformText.name(platform.name)), .init(platform.state, tone(platform.state)),
        .init("\(platform.inFlight)"),
        .init("\(platform.delivered)"), .init("\(platform.repeated)"), .init("\(platform.failed)"),
        .init("\(platform.expired)"), .init("\(platform.pruned)"), .init(platform.reason ?? ""),
      ])
    }
    var advice = advice(status, style)
    if let fault = status.certificateFault {
      advice.append(style.paint("the certificate in the files is not taken, the old one serves on: \(fault)", .warning))
    }
    if let fault = status.webPushFault { advice.append(style.paint(fault, .warning)) }
    let since = Amount.duration(milliseconds: UInt64(clamping: max(0, now - status.countedSince)) * 1_000)
    var lines = table.lines(style) + advice.flatMap(style.prose) + [""]
    lines.append(
      "\(Amount.count(status.devices, "device")), \(Amount.count(status.waiting, "wake")) under way,"
        + " \(status.accepted) accepted in all")
    let ended = status.ended.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }
    if !ended.isEmpty { lines.append("in the last \(since): " + ended.joined(separator: ", ")) }
    if let events = status.events { lines.append(contentsOf: self.events(events, style)) }
    let refused = status.refused.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }
    if !refused.isEmpty { lines.append("refused: " + refused.joined(separator: ", ")) }
    if status.dropped > 0 {
      lines.append("\(Amount.count(status.dropped, "wake")) of strangers dropped, without their hearing of it")
    }
    if status.underOlderKeys > 0 {
      lines.append(style.paint("\(status.underOlderKeys) tokens are under an older key: roost push rekey", .warning))
    }
    if status.unreadable > 0 {
      lines.append(style.paint("\(status.unreadable) tokens cannot be opened; their devices must register", .warning))
    }
    return lines
  }

  private static func events(_ events: PushStatus.Events, _ style: Style) -> [String] {
    let state: String =
      switch events.state {
      case "following": "the event store is followed for \(Amount.count(events.keys, "key"))"
      case "away": style.paint("the event store is away", .warning)
      default: "no key to follow the event store for"
      }
    var lines = [
      "Nostr: \(Amount.count(events.devices, "device")), \(events.wakes) of the wakes accepted for events; \(state)"
    ]
    let dismissed = events.dismissed.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }
    if events.waking > 0 || !dismissed.isEmpty {
      let others = dismissed.isEmpty ? "" : "; that wake no phone: " + dismissed.joined(separator: ", ")
      lines.append("events: \(events.waking) that wake\(others)")
    }
    return lines
  }

  /// What needs attention, and when a platform is tried again: a line for each platform with such a remark.
  private static func advice(_ status: PushStatus, _ style: Style) -> [String] {
    status.platforms.compactMap { platform in
      guard let words = PushPlatformText.words(of: platform) else { return nil }
      return style.paint("\(PushPlatformText.name(platform.name)): \(words)", .warning)
    }
  }

  /// A table of devices.
  ///
  /// - Parameters:
  ///   - rows: the devices.
  ///   - asked: the owner that was asked for, as typed; nil for all.
  ///   - now: seconds since 1970.
  ///   - style: whether colours are used.
  public static func devices(
    _ rows: [PushDeviceRow], of asked: String? = nil, now: Int64, _ style: Style
  ) -> [String] {
    guard !rows.isEmpty else {
      return [asked.map { "No device of \(VisibleText.make($0)) is registered." } ?? "No device is registered."]
    }
    var table = TextTable([
      .init(title: "OWNER", columnsMaximum: 64), .init(title: "PLATFORM"), .init(title: "EXPIRES", alignment: .right),
      .init(title: "DEVICE"), .init(title: "WANTS"),
    ])
    for row in rows {
      let left = Amount.duration(milliseconds: UInt64(clamping: max(0, row.expiresAt - now)) * 1_000)
      table.append([
        .init(owner(row.owner)), .init(PushPlatformText.name(row.platform)), .init("in \(left)"), .init(row.device),
        .init(wants(row)),
      ])
    }
    return table.lines(style) + ["", Amount.count(rows.count, "device")]
  }

  /// A key in its usual form: `npub` for Nostr, z-base-32 for Pubky. `--json` has it in the form of requests.
  static func owner(_ name: String) -> String {
    Octets32(hexadecimal: name.utf8).map { PublicKey($0).npub } ?? name
  }

  private static func wants(_ row: PushDeviceRow) -> String {
    if !row.isReadable { return "nothing: its token cannot be opened until it registers again" }
    if !row.isVerified { return "nothing yet: it has not shown that its token is its own" }
    let wants = row.capabilities.isEmpty ? "everything" : row.capabilities.joined(separator: ", ")
    return row.isSealed == true ? wants + "; sealed" : wants
  }

  /// What `roost push send` prints.
  public static func sent(_ sent: PushSent, _ style: Style) -> [String] {
    guard let outcomes = sent.outcomes else {
      return [
        "Wake \(sent.wake) is on its way to \(Amount.count(sent.devices, "device")). 'roost push stats' counts it."
      ]
    }
    var table = TextTable([
      .init(title: "DEVICE"), .init(title: "PLATFORM"), .init(title: "STATE"), .init(title: "WHY"),
    ])
    for outcome in outcomes {
      let tone: Tone =
        outcome.state == "delivered" ? .good : outcome.state == "refused" ? .bad : .warning
      table.append([
        .init(outcome.device), .init(PushPlatformText.name(outcome.platform)), .init(outcome.state, tone),
        .init([outcome.reason, outcome.advice].compactMap(\.self).joined(separator: ": ")),
      ])
    }
    let isOpen = outcomes.contains { $0.state == "waiting" }
    return ["Wake \(sent.wake)", ""] + table.lines(style)
      + (isOpen ? ["", "What waits is tried until it expires; 'roost push stats' counts it."] : [])
  }

  /// Whether it is useless to wait for a push relay in this state: it will not start without a command, or it has
  /// already reported a fault, which it would report again at each start.
  ///
  /// - Parameters:
  ///   - result: roostd's report on it.
  ///   - afterWaiting: whether the wait is over; then every push relay that is not there counts as absent.
  public static func isAbsent(_ result: WhyResult, afterWaiting: Bool = false) -> Bool {
    switch result.state {
    case .ready, .attached: false
    case .stopped, .failed, .exited, .execFailed: true
    case .backoff: afterWaiting || result.complaint != nil
    default: afterWaiting
    }
  }

  /// Why a configured push relay does not answer.
  public static func absence(_ result: WhyResult) -> String {
    let words = result.complaint.map { ": " + $0 } ?? ""
    return "the push relay is not ready (\(result.state))\(words); 'roost why \(result.worker)' has more"
  }

  /// What `roost push rekey` prints.
  public static func rekeyed(_ rekeyed: PushRekeyed, _ style: Style) -> [String] {
    let words =
      rekeyed.changed == 0 && rekeyed.remaining == 0
      ? "All tokens are under the newest key already." : "\(rekeyed.changed) tokens are under the newest key now."
    let count = rekeyed.unreadable
    let broken = count > 0 ? ["\(count) tokens cannot be opened; their devices must register again."] : []
    if rekeyed.remaining > 0 {
      return [words] + broken + ["\(rekeyed.remaining) tokens are under an older key still, whose line must stay."]
    }
    return [words] + broken + (rekeyed.keys > 1 ? ["Older lines of the key ring can go."] : [])
  }

  private static func tone(_ state: String) -> Tone {
    switch state {
    case "ready": .good
    case "away": .warning
    default: .dim
    }
  }
}
