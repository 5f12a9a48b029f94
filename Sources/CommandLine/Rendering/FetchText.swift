public import Contracts
internal import Frames
internal import Wording

/// How far each relay is with an observation, for people: line by line while it continues, and in one sentence at its
/// end.
public enum FetchText {
  /// A line for each relay. If there are more than ``LiveBlock/lineMaximum``, those that are not done come first, and
  /// the last line sums up the others.
  ///
  /// - Parameters:
  ///   - progress: how far the relays are.
  ///   - columns: the terminal's width; long relay names are cut to it, so that the other columns have room.
  public static func lines(_ progress: ObserveProgress, columns: Int) -> [LiveLine] {
    var shown = progress.relays
    var rest: [ObserveProgress.Relay] = []
    if shown.count > LiveBlock.lineMaximum {
      let ordered = shown.filter { $0.state != .stored } + shown.filter { $0.state == .stored }
      shown = Array(ordered.prefix(LiveBlock.lineMaximum - 1))
      rest = Array(ordered.dropFirst(shown.count))
    }
    let names = shown.map { VisibleText.make($0.relay) }
    let widest = names.map(DisplayWidth.of).max() ?? 0
    let room = min(widest, max(nameColumnMinimum, columns - besideNameColumns))
    var lines = zip(shown, names).map { line($0, $1, room) }
    if !rest.isEmpty { lines.append(LiveLine("and \(rest.count) more: \(tally(rest))", .dim)) }
    return lines
  }

  /// The least width of a relay's name, however narrow the terminal is.
  private static let nameColumnMinimum = 16
  /// The word before the name, and a few words after it.
  private static let besideNameColumns = 36

  private static func line(_ relay: ObserveProgress.Relay, _ name: String, _ room: Int) -> LiveLine {
    let cut = DisplayWidth.cut(name, to: room)
    let blanks = String(repeating: " ", count: room - DisplayWidth.of(cut))
    let word = word(relay.state)
    var note = relay.events > 0 ? Amount.count(relay.events, "event") : ""
    if let reason = reason(relay), relay.state != .stored { note += (note.isEmpty ? "" : ", ") + reason }
    var pieces = [LiveLine.Piece(text: pad(word, to: wordColumns) + "  ", tone: tone(relay.state))]
    pieces.append(LiveLine.Piece(text: note.isEmpty ? cut : cut + blanks + "  "))
    if !note.isEmpty { pieces.append(LiveLine.Piece(text: note, tone: .dim)) }
    return LiveLine(pieces)
  }

  /// Why a relay waits or has refused, to be shown after its name: `connect to 127.0.0.1:7777: connection refused`
  /// without the address, which the name contains.
  static func reason(_ relay: ObserveProgress.Relay) -> String? {
    guard let reason = relay.reason else { return nil }
    if let end = reason.firstRange(of: ": "), let place = reason[..<end.lowerBound].split(separator: " ").last,
      relay.relay.contains(place), end.upperBound < reason.endIndex
    {
      return VisibleText.make(reason[end.upperBound...])
    }
    return VisibleText.make(reason)
  }

  private static let wordColumns = RequestReport.State.allCases.map { word($0).count }.max() ?? 0

  private static func pad(_ word: String, to columns: Int) -> String {
    word + String(repeating: " ", count: max(0, columns - word.count))
  }

  private static func word(_ state: RequestReport.State) -> String {
    switch state {
    case .waiting: "waiting"
    case .asked: "asked"
    case .stored: "done"
    case .refused: "refused"
    }
  }

  private static func tone(_ state: RequestReport.State) -> Tone {
    switch state {
    case .waiting: .warning
    case .asked: .plain
    case .stored: .good
    case .refused: .bad
    }
  }

  private static func tally(_ relays: [ObserveProgress.Relay]) -> String {
    RequestReport.State.allCases.compactMap { state in
      let count = relays.count { $0.state == state }
      return count > 0 ? "\(count) \(word(state))" : nil
    }.joined(separator: ", ")
  }

  // MARK: The end

  /// The result: `-- 3 relays asked: 2 done, 20 events; 1 unreachable (wss://down.example: no such host)`, in as many
  /// lines as a terminal needs.
  ///
  /// - Parameters:
  ///   - progress: a complete one. A relay that still waits then could not be reached at the first attempt.
  ///   - style: the terminal's.
  public static func summary(_ progress: ObserveProgress, _ style: Style) -> [String] {
    style.prose("-- " + sentence(progress))
  }

  private static func sentence(_ progress: ObserveProgress) -> String {
    let relays = progress.relays
    guard !relays.isEmpty else { return "no relay was asked: the stored events are fresh enough, or no relay is known" }
    var parts: [String] = []
    let done = relays.filter { $0.state == .stored }
    if !done.isEmpty {
      parts.append("\(done.count) done, \(Amount.count(done.reduce(0) { $0 + $1.events }, "event"))")
    }
    let answering = relays.count { $0.state == .asked }
    if answering > 0 { parts.append("\(answering) still answering") }
    parts += named(relays.filter { $0.state == .refused }, "refused")
    parts += named(relays.filter { $0.state == .waiting }, "unreachable")
    return "\(Amount.count(relays.count, "relay")) asked: \(parts.joined(separator: "; "))"
  }

  /// The maximum number of relays that a summary names with their reasons; the others are counted.
  private static let namedMaximum = 3

  private static func named(_ relays: [ObserveProgress.Relay], _ word: String) -> [String] {
    guard !relays.isEmpty else { return [] }
    var names = relays.prefix(namedMaximum).map { relay in
      VisibleText.make(relay.relay) + (reason(relay).map { ": \($0)" } ?? "")
    }
    if relays.count > namedMaximum { names.append("and \(relays.count - namedMaximum) more") }
    return ["\(relays.count) \(word) (\(names.joined(separator: "; ")))"]
  }
}

/// The lines for a user without a ``LiveBlock``: one for each relay that refuses or cannot be reached at present.
public struct FetchNews: Sendable {
  private var told: Set<String> = []

  /// A state in which nothing was reported.
  public init() {}

  /// A line for each relay that has a fault and was not reported yet.
  public mutating func lines(_ progress: ObserveProgress) -> [String] {
    var lines: [String] = []
    for relay in progress.relays {
      guard let text = Self.text(relay), told.insert(relay.relay).inserted else { continue }
      lines.append(text)
    }
    return lines
  }

  private static func text(_ relay: ObserveProgress.Relay) -> String? {
    let name = VisibleText.make(relay.relay)
    let reason = FetchText.reason(relay).map { ": \($0)" } ?? ""
    switch relay.state {
    case .refused: return "\(name) refuses\(reason)"
    // Without a reason the relay is only being dialled.
    case .waiting: return relay.reason == nil ? nil : "\(name) cannot be asked yet\(reason)"
    case .asked, .stored: return nil
    }
  }
}
