public import Contracts
internal import Frames

/// What `roost status` prints: a line a worker, and a line of totals.
public enum StatusTable {
  /// The lines.
  ///
  /// - Parameters:
  ///   - status: the supervisor's answer.
  ///   - sending: whether events can be sent, as the planner says; nil if it does not.
  ///   - style: whether colours are used.
  public static func lines(
    _ status: SupervisorStatus, sending: SendingState? = nil, _ style: Style
  ) -> [String] {
    let showsProportional = status.workers.contains { $0.proportionalBytes != nil }
    var columns: [TextTable.Column] = [
      .init(title: "WORKER"), .init(title: "STATE"), .init(title: "SINCE", alignment: .right),
      .init(title: "PID", alignment: .right, isSpareable: true), .init(title: "RESTARTS", alignment: .right),
      .init(title: "QUEUED", alignment: .right), .init(title: "IN-FLIGHT", alignment: .right),
      .init(title: "MEMORY", alignment: .right),
    ]
    if showsProportional { columns.append(.init(title: "PSS", alignment: .right)) }
    columns.append(.init(title: "NOTE"))
    var table = TextTable(columns)
    for worker in status.workers { table.append(row(worker, showsProportional)) }
    let lines = status.workers.isEmpty ? ["No workers are configured."] : table.lines(style)
    return lines + [""] + (sending.map { [line($0, style)] } ?? []) + totals(status, style)
  }

  /// The same without the workers: whether events can be sent, and the totals.
  public static func summary(_ status: SupervisorStatus, sending: SendingState?, _ style: Style) -> [String] {
    totals(status, style) + (sending.map { [line($0, style)] } ?? [])
  }

  private static func line(_ sending: SendingState, _ style: Style) -> String {
    let (tone, words): (Tone, String) =
      switch sending {
      case .online: (.good, "")
      case .idle: (.good, "; relays are dialled when there is something to send")
      case .reconnecting: (.warning, "; what is published meanwhile is queued")
      case .readOnly: (.warning, "; no relay in reach is used for events: 'roost relay list'")
      case .offline: (.bad, "; what is published is queued: 'roost relay list' says why")
      case .noRelays: (.bad, "; 'roost relay add URL' adds one")
      }
    return "Sending: " + style.paint(sending.rawValue, tone) + words
  }

  private static func row(_ worker: WorkerStatus, _ showsProportional: Bool) -> [TextTable.Cell] {
    let isNearLimit = worker.restarts > 0 && worker.restarts + 1 >= worker.restartLimit
    let restarts: Tone = worker.restarts == 0 ? .dim : isNearLimit ? .bad : .warning
    var cells: [TextTable.Cell] = [
      .init(worker.name), .init(worker.state.rawValue, StateTone.of(worker.state)),
      .init(Amount.duration(milliseconds: worker.sinceMilliseconds)), optional(worker.pid.map { "\($0)" }),
      // A worker that was started by hand is never restarted.
      worker.restartLimit == 0 ? optional(nil) : .init("\(worker.restarts)/\(worker.restartLimit)", restarts),
      .init("\(worker.mailboxFrames)", worker.mailboxFrames == 0 ? .dim : .plain),
      .init("\(worker.inHand)", worker.inHand == 0 ? .dim : .plain), optional(worker.residentBytes.map(Amount.bytes)),
    ]
    if showsProportional { cells.append(optional(worker.proportionalBytes.map(Amount.bytes))) }
    cells.append(note(worker))
    return cells
  }

  private static func optional(_ text: String?) -> TextTable.Cell { text.map { .init($0) } ?? .init("-", .dim) }

  /// How long a worker may be without progress before the table says so, in milliseconds.
  private static let quietMilliseconds: UInt64 = 5_000

  /// The most urgent remark.
  private static func note(_ worker: WorkerStatus) -> TextTable.Cell {
    if let busy = worker.busyMilliseconds, busy >= quietMilliseconds {
      return .init("has work, no progress for \(Amount.duration(milliseconds: busy))", .warning)
    }
    var parts: [String] = []
    if let next = worker.nextAttemptMilliseconds {
      parts.append("next try in \(Amount.duration(milliseconds: next))")
    }
    if StateTone.of(worker.state) != .good, let exit = worker.lastExit { parts.append(exit) }
    if let text = worker.text, StateTone.of(worker.state) == .good { parts.append(text) }
    if worker.droppedLogLines > 0 { parts.append("\(Amount.count(worker.droppedLogLines, "log line")) dropped") }
    return .init(parts.joined(separator: "; "))
  }

  private static func totals(_ status: SupervisorStatus, _ style: Style) -> [String] {
    let ready = status.workers.count { $0.state == .ready }
    let attached = status.workers.count { $0.state == .attached }
    let stopped = status.workers.count { $0.state == .stopped }
    let letters = Amount.count(status.deadLetters, "dead letter")
    let memory = status.residentBytes.map { ", \(Amount.bytes($0))" } ?? ""
    let parts = [
      "\(Amount.count(status.workers.count, "worker")), \(ready) ready"
        + (attached == 0 ? "" : ", \(attached) attached") + (stopped == 0 ? "" : ", \(stopped) stopped"),
      Amount.count(status.clients.count, "client"), letters,
      "\(Amount.bytes(UInt64(max(0, status.keptBytes)))) queued",
      "roostd pid \(status.pid) up \(Amount.duration(milliseconds: status.uptimeMilliseconds))\(memory)",
    ]
    var lines = [""]
    for part in parts {
      let separator = lines[lines.count - 1].isEmpty ? "" : " · "
      if DisplayWidth.of(lines[lines.count - 1] + separator + part) <= style.columns {
        lines[lines.count - 1] += separator + part
      } else {
        lines.append(part)
      }
    }
    guard status.deadLetters > 0 else { return lines }
    return lines.map { $0.replacing(letters, with: style.paint(letters, .bad)) }
  }
}

/// What a worker's state means to the user: as wanted, changing, or in need of attention.
enum StateTone {
  static func of(_ state: WorkerStateWord) -> Tone {
    switch state {
    case .ready, .attached: .good
    case "waiting", "starting", "draining", "stopping", "held": .warning
    case .stopped, .exited, .absent: .dim
    default: .bad  // backoff, exec-failed, failed, and any word of a later version.
    }
  }
}

/// What `roost status --sandbox` prints.
public enum SandboxTable {
  /// The lines.
  public static func lines(_ status: SupervisorStatus, _ style: Style) -> [String] {
    guard !status.workers.isEmpty else { return ["No workers are configured."] }
    let showsMemory = status.workers.contains { $0.proportionalBytes != nil }
    var columns: [TextTable.Column] = [.init(title: "WORKER"), .init(title: "ROLE"), .init(title: "STATE")]
    if showsMemory {
      columns += [.init(title: "MEMORY", alignment: .right), .init(title: "PSS", alignment: .right)]
    }
    var table = TextTable(columns + [.init(title: "SANDBOX")])
    for worker in status.workers {
      // The sandbox of the last process says nothing about the next.
      let told: TextTable.Cell = worker.sandbox.map { .init($0) } ?? .init("none told", .warning)
      let sandbox = worker.pid == nil ? .init("-", .dim) : told
      var cells: [TextTable.Cell] = [
        .init(worker.name), .init(worker.role), .init(worker.state.rawValue, StateTone.of(worker.state)),
      ]
      if showsMemory {
        cells += [worker.residentBytes, worker.proportionalBytes].map {
          $0.map { .init(Amount.bytes($0)) } ?? .init("-", .dim)
        }
      }
      table.append(cells + [sandbox])
    }
    return table.lines(style)
  }
}

/// `roost status --json`: the answer of `supervisor.status`, and `sending`, if the planner says it.
public struct StatusJSON: Encodable {
  private let status: SupervisorStatus
  private let sending: SendingState?

  private enum Name: String, CodingKey {
    case sending
  }

  /// The supervisor's answer and the planner's word.
  public init(_ status: SupervisorStatus, sending: SendingState?) {
    self.status = status
    self.sending = sending
  }

  /// Writes the members of the answer, and `sending`.
  public func encode(to encoder: any Encoder) throws {
    try status.encode(to: encoder)
    var container = encoder.container(keyedBy: Name.self)
    try container.encodeIfPresent(sending, forKey: .sending)
  }
}
