public import Contracts
internal import Frames
internal import Wording

// What `roost account` says: what is proposed, what a choice means, and what is gone.

extension AccountText {
  /// What would be published.
  public static func proposal(_ proposal: AccountProposal, _ style: Style) -> [String] {
    guard !proposal.drafts.isEmpty else {
      return ["There is nothing to publish: supervisor.conf has no relays, and no name was given."]
    }
    var lines = [style.paint("Proposed:", .strong)]
    for draft in proposal.drafts {
      switch draft.kind {
      case 0: lines.append("  a profile (kind 0) with the name \(VisibleText.make(proposal.name))")
      case 10_002:
        lines.append("  your relays (kind 10002):")
        lines += draft.tags.map { tag in
          "    \(VisibleText.make(tag[1]))" + (tag.count > 2 ? ", to \(tag[2]) only" : ", to read and write")
        }
      default:
        lines.append("  where you receive messages (kind 10050):")
        lines += draft.tags.map { "    \(VisibleText.make($0[1]))" }
      }
    }
    return lines
  }

  /// The commands that publish what was not published.
  public static func howToPublish(_ drafts: [AccountProposal.Draft], as account: String) -> [String] {
    ["Nothing is published. To publish it later:"]
      + drafts.map { draft in
        let json = String(decoding: JSONPayload.encode(draft), as: UTF8.self)
        // As a shell reads it within quotes.
        let quoted = json.replacing("'", with: "'\\''")
        return "  roost publish --as \(account) '\(quoted)'"
      }
  }

  /// `alice is used.`
  public static func used(_ account: SignerAccount, _ style: Style) -> [String] {
    var lines = changed(account, "meant wherever no account is named", style)
    if account.awaitsPassphrase {
      lines.append(style.paint("It is locked: roost key unlock \(VisibleText.make(account.name))", .warning))
    }
    return lines
  }

  /// What was ended, and what is kept.
  public static func left(_ account: SignerAccount, _ style: Style) -> [String] {
    changed(account, "left", style) + [
      account.isReadOnly == true
        ? "Nothing is asked of relays for it. Its events and lists are kept."
        : "Its key is locked, and nothing is asked of relays for it. Its key, events, lists and publications are kept.",
      "'roost account use \(VisibleText.make(account.name))' brings it back.",
    ]
  }

  /// One step of forgetting.
  public static func step(_ step: ForgetStep, _ style: Style) -> [String] {
    let name = VisibleText.make(step.step)
    guard step.isDone else {
      return [style.paint("\(name) waits: \(VisibleText.make(step.remark ?? "no reason was given"))", .warning)]
    }
    switch step.step {
    case "relays": return ["relays: looked up"]
    case "key": return ["key: removed"]
    default:
      let parts = step.gone.map { "\(VisibleText.make($0.what)) (\($0.count))" }
      return ["\(name): " + (parts.isEmpty ? "nothing was left" : "removed " + parts.joined(separator: ", "))]
    }
  }

  /// The end: what is gone, what stays, and what relays have.
  public static func forgotten(_ account: SignerAccount, _ end: PeopleForgotten, _ style: Style) -> [String] {
    var lines = ["\(VisibleText.make(account.name)) is forgotten: \(account.npub)"]
    if end.gone.isEmpty {
      lines.append("There was nothing but the key.")
    } else {
      lines.append("Gone from this machine:")
      lines += end.gone.map { "  \(VisibleText.make($0.what)): \($0.count)" }
    }
    for remark in end.remarks { lines.append(style.paint("Note: ", .warning) + VisibleText.make(remark) + ".") }
    guard !end.relays.isEmpty else {
      return lines + ["No relay is known here that has events of it."]
    }
    lines.append("Relays keep what they have. Known here:")
    lines += end.relays.map { "  \(VisibleText.make($0.relay)): \(Amount.count($0.events, "event"))" }
    lines.append(
      "To have it deleted there, publish a request to vanish (NIP-62), signed with a copy of its key. Nothing was sent."
    )
    return lines
  }
}
