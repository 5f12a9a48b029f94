public import Contracts
internal import Frames
internal import Wording

/// What became of a link, a reply or a message that was sent: a line for each recipient.
public enum LinkSendingText {
  /// The lines.
  ///
  /// - Parameters:
  ///   - sent: the answer.
  ///   - own: the account's key, whose copy is only mentioned when it failed; nil: it is not known.
  ///   - names: names of people.
  ///   - command: what shows later what became of it: `roost links show`.
  ///   - style: colours.
  public static func lines(
    _ sent: SentLink, own: String?, names: LinkNames, command: String, _ style: Style
  ) -> [String] {
    let others = sent.copies.filter { $0.recipient != own }
    // What is sent to oneself has one copy, and is shown.
    let copies = others.isEmpty ? sent.copies : others
    var lines = copies.map { line($0, names, style) }
    if copies.contains(where: { $0.stage == .kept || $0.stage == .queued }) {
      lines.append("It is kept here and tried again: \(command)")
    }
    if !others.isEmpty, sent.copies.contains(where: { $0.recipient == own && $0.stage == .failed }) {
      lines.append("No relay has the copy for your other devices.")
    }
    if let name = sent.session { lines.append("In the session \(LinkNames.name(name)): \(command)") }
    lines.append(style.paint("  " + VisibleText.make(sent.id.prefix(64)), .dim))
    return lines + sent.remarks.prefix(remarkMaximum).map { style.paint(VisibleText.make($0), .warning) }
  }

  private static let remarkMaximum = 8
  private static let relayMaximum = 3

  private static func line(_ copy: SentLink.Copy, _ names: LinkNames, _ style: Style) -> String {
    let who = names.text(copy.recipient)
    let reason = copy.message.map { ": \(DisplayWidth.cut(VisibleText.make($0), to: reasonColumns))" } ?? ""
    switch copy.stage {
    case .sent:
      let have = copy.relays.count == 1 ? "has" : "have"
      return "\(style.paint("Sent", .good)) to \(who): \(relays(copy.relays)) \(have) it."
    case .queued: return "\(style.paint("Not sent yet", .warning)) to \(who)\(reason)"
    case .kept: return "\(style.paint("Not sent yet", .warning)) to \(who): the publish queue does not have it yet"
    case .failed, .partly: return "\(style.paint("Not sent", .bad)) to \(who), and not tried again\(reason)"
    }
  }

  private static let reasonColumns = 200

  private static func relays(_ relays: [String]) -> String {
    guard !relays.isEmpty else { return "a relay" }
    let shown = relays.sorted().prefix(relayMaximum).map { VisibleText.make($0) }.joined(separator: ", ")
    return relays.count > relayMaximum ? "\(shown) and \(relays.count - relayMaximum) more" : shown
  }

  /// The text that was typed, for a person to whom it must not be lost.
  ///
  /// - Parameters:
  ///   - text: the text.
  ///   - isTerminal: whether control characters are made visible.
  public static func typed(_ text: String, isTerminal: Bool) -> String {
    guard isTerminal else { return text }
    return text.split(separator: "\n", omittingEmptySubsequences: false).map { VisibleText.make($0) }
      .joined(separator: "\n")
  }
}
