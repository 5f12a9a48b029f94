import Bus
import Contracts
import Cryptography
import EventLoop
import Frames
import LinkLedger
import Linkstr
import Logging
import Nostr
import Storage
import WorkerKit
import WorkerLedger

// Notices: each item that comes from another author is published once on the topic `links.changes`. The mark for that
// is committed first. So a death may lose a notice, and gives none twice; the item itself is unread in any case.

/// Tells subscribers what has come.
@EventLoopActor
final class NoticeTeller {
  private unowned let feed: LinkFeed

  /// Notices of one transaction.
  private static let batchMaximum = 64

  init(_ feed: LinkFeed) { self.feed = feed }

  /// Gives the notices of an account that are due.
  func tell(_ vault: LinkVault) async {
    do throws(Refusal) {
      let contacts = try await feed.contacts(vault)
      while !feed.worker.isDraining {
        let due: [LinkLedger.Due]
        do throws(StorageFault) {
          due = try await feed.ledger.due(of: vault.account, limit: Self.batchMaximum)
          guard !due.isEmpty else { return }
          try await feed.ledger.noticed(due.map(\.number))
        } catch { throw feed.health.refusal(error) }
        for item in due { await tell(item.row, contacts, vault) }
      }
    } catch {
      feed.log.warning("notices wait", metadata: ["why": "\(error.message)"])
    }
  }

  private func tell(_ row: LinkLedger.Row, _ contacts: [PublicKey: LinkContact], _ vault: LinkVault) async {
    guard let rumor = vault.rumor(row) else { return }
    let sender = contacts[rumor.event.pubkey]?.name ?? Self.short(rumor.event.pubkey)
    await changed(
      LinkChange(
        account: vault.key.description, conversation: rumor.conversation, id: "\(rumor.id)",
        notice: Self.notice(rumor, sender)))
  }

  /// Tells a change.
  func changed(_ change: LinkChange) async {
    do throws(Refusal) { try await feed.worker.bus.publish(LinkTopic.changes, change) } catch {
      feed.log.debug("a change is not told", metadata: ["why": "\(error.message)"])
    }
  }

  private static func notice(_ rumor: KeptRumor, _ sender: String) -> LinkChange.Notice? {
    switch rumor.content {
    case .link(let item):
      return LinkNotice(item, from: sender).map { LinkChange.Notice(title: $0.title, body: $0.body) }
    case .message(let message):
      let name = LinkNotice.line(sender, LinkNotice.nameLengthMaximum) ?? "Unknown"
      switch message.body {
      case .text(let text):
        return LinkChange.Notice(
          title: "\(name) wrote", body: LinkNotice.line(text, LinkNotice.bodyLengthMaximum) ?? "New message")
      case .file: return LinkChange.Notice(title: "\(name) sent a file", body: "New file")
      case .reaction, .deletion: return nil
      }
    }
  }

  /// The beginning of a key, for one without a name.
  static func short(_ key: PublicKey) -> String { "\(key.npub.prefix(12))…" }
}
