import Clocks
import Contracts
import Cryptography
import EventLoop
import Frames
import Logging
import Nostr
import OutboxRouting
import PublishLedger
import PublishQueue
import Storage
import WorkerKit
import WorkerLedger

// Forgets an account: its publications on their way are called off first, so that no answer of a relay writes them
// again.

extension PublishService {
  /// How long attempts under way may take before the caller is asked to come again.
  private static let settleMilliseconds: UInt64 = 3_000
  /// How often they are looked at.
  private static let lookMilliseconds: UInt64 = 50

  private static var underWay: Refusal {
    Refusal(
      .unavailable, "events are on their way to relays; those of the account are called off", outcome: .notStarted,
      retryAfterMilliseconds: 1_000)
  }

  /// Removes an account's publications and the kept versions of its lists.
  ///
  /// - Throws: `unavailable` while an event is on its way to a relay.
  func forget(_ account: PublicKey, others: Set<PublicKey>) async throws(Refusal) -> [AccountForgotten.Part] {
    forgetting.insert(account)
    // A caller that is publishing now may still write the publication.
    let before = Set(claims.keys)
    let end = EventLoop.process.now.advanced(milliseconds: Self.settleMilliseconds)
    while claims.keys.contains(where: before.contains) {
      guard EventLoop.process.now < end else { throw Self.underWay }
      await EventLoopActor.sleep(milliseconds: Self.lookMilliseconds)
    }
    let open = Set(queue.ids.filter { id in queue[id].map { isOf($0, account, others) } ?? false })
    for id in open { perform { $0.cancelled(id, at: $1) } }
    let last = EventLoop.process.now.advanced(milliseconds: Self.settleMilliseconds)
    // Those that have ended and are written down leave the queue.
    while queue.ids.contains(where: open.contains) {
      guard EventLoop.process.now < last else { throw Self.underWay }
      await EventLoopActor.sleep(milliseconds: Self.lookMilliseconds)
    }
    unstored = unstored.filter { !isOf($0.value, account, others) }
    unrouted.removeAll { isOf($0.publication, account, others) }
    await writer.flush()
    do throws(StorageFault) {
      let rows = try await ledger.publications(of: account, butOf: others)
      try await ledger.forget(rows.map(\.number), of: account)
      let gone = Set(rows.map(\.id))
      leftStored.removeAll { gone.contains($0.id) }
      for row in rows {
        bodies.drop(row.id)
        uncount(row.id, row.state)
      }
      _ = try await ledger.file.scrub()
      let lists = try await replacedLists?.forget(author: account) ?? 0
      return [
        AccountForgotten.Part("publications", rows.count),
        AccountForgotten.Part("earlier versions of its lists", lists),
      ]
    } catch {
      throw writer.health.refusal(error)
    }
  }

  /// Whether a publication belongs to an account: by its author, or because the account published it for a key that is
  /// used once.
  private func isOf(_ publication: QueuedPublication, _ account: PublicKey, _ others: Set<PublicKey>) -> Bool {
    publication.author == account
      || publication.targets.contains { $0.manner.account == account } && !others.contains(publication.author)
  }

  /// Refuses to publish what an account wrote that is being forgotten.
  func refuseForgotten(_ event: Event) throws(Refusal) {
    guard forgetting.contains(event.pubkey) else { return }
    throw Refusal(.denied, "the account that wrote it is being forgotten", outcome: .notStarted)
  }
}
