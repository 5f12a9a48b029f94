import Contracts
import Cryptography
import Frames
import LinkLedger
import Nostr
import Storage

// Why something is not with its recipients, in the words of relays or of the planner.

extension LinkSender {
  /// Recipients that a problem names, and the bytes of what is said of each: that and their names are within
  /// ``LinkRow/problemByteCountMaximum``.
  private static let (namedMaximum, reasonByteCountMaximum) = (3, 200)

  /// Why recipients do not have those of these items that are one's own and not sent, by item.
  func problems(of rows: [LinkLedger.Row], _ vault: LinkVault) async throws(Refusal) -> [[UInt8]: String] {
    let items = rows.filter { $0.stage > 0 && SendingStage(ledgered: $0.stage - 1) != .sent }.map(\.id)
    guard !items.isEmpty else { return [:] }
    let contacts = try await feed.contacts(vault)
    let copies = try await feed.ledgered { () async throws(StorageFault) in
      try await self.feed.ledger.copies(ofEach: items, vault.account)
    }
    var found: [[UInt8]: String] = [:]
    for (item, copies) in zip(items, copies) {
      let others = copies.filter { !$0.isOwn }
      let told = (others.isEmpty ? copies : others).compactMap { self.told($0, vault) }
      found[item] = Self.problem(told) { recipient in
        PublicKey(recipient).map { contacts[$0]?.name ?? NoticeTeller.short($0) } ?? recipient
      }
    }
    return found
  }

  /// What is wrong with some copies, with names where there are several.
  private static func problem(_ copies: [SentLink.Copy], name: (String) -> String) -> String? {
    let reasons = copies.compactMap { copy in reason(copy).map { (copy.recipient, $0) } }
    guard copies.count > 1 else { return reasons.first?.1 }
    let told = reasons.prefix(namedMaximum).map { "\(name($0)): \($1)" }
    let more = reasons.count > namedMaximum ? ["\(reasons.count - namedMaximum) more"] : []
    return reasons.isEmpty ? nil : (told + more).joined(separator: "; ")
  }

  /// Why a recipient does not have it; nil: it has it, or nothing is known.
  private static func reason(_ copy: SentLink.Copy) -> String? {
    switch copy.stage {
    case .sent: nil
    case .kept: copy.message.map(cut) ?? "the publish queue does not have it yet"
    case .queued: copy.message.map(cut)
    case .failed, .partly: cut(copy.message ?? "no relay has taken it")
    }
  }

  private static func cut(_ text: String) -> String {
    guard text.utf8.count > reasonByteCountMaximum else { return text }
    var scalars = text.unicodeScalars.prefix(reasonByteCountMaximum)
    while String(scalars).utf8.count > reasonByteCountMaximum { scalars.removeLast() }
    return String(scalars) + "…"
  }
}
