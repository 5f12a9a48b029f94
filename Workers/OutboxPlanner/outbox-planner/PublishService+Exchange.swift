import Addresses
import Bus
import Contracts
import Cryptography
import EventLoop
import Frames
import Nostr
import OutboxRouting
import PublishLedger
import PublishQueue
import Storage
import WorkerKit
import WorkerLedger

// plan.exchange: what another Roost of the same owner has published counts as published here.
//
//     unknown here ─▶ a publication that has ended: relays that have it, and those that are left to the other
//     known here   ─▶ relays that have taken it from there are not sent it from here
//
// Only the ledger is read for the answer: what is in memory and not written yet will have a later change.

extension PublishService {
  /// The words at a relay that the other Roost still tries.
  static let leftToPeer = "another Roost of yours sends it there"
  /// Longest message of a relay that is passed on, in characters.
  private static let messageLength = 200

  func exchange(_ wanted: PublicationExchange) async throws(Refusal) -> PublishedNews {
    guard let account = PublicKey(wanted.account),
      planner.directory.personalAccounts.contains(where: { $0.key == account })
    else { throw Refusal(.noSuchAccount, "\(wanted.account.prefix(64)) is no account here", outcome: .notStarted) }
    guard !isDraining else { throw Self.draining }
    let told = wanted.publications.compactMap { Self.readable($0, by: account) }
    // Each waits for its own commit; all of one turn share it.
    let tasks = told.map { publication in
      EventLoopActor.task { [self] () async -> Refusal? in
        do throws(Refusal) { try await learn(publication) } catch { return error }
        return nil
      }
    }
    var refusal: Refusal?
    for task in tasks { if let error = await task.value { refusal = error } }
    if let refusal { throw refusal }
    return try await news(after: wanted.after, by: account)
  }

  /// What another Roost tells, with everything that its word is not taken for left out; nil if nothing is left.
  private static func readable(_ told: Publication, by account: PublicKey) -> Publication? {
    guard PublicKey(told.author) == account, EventID(told.id) != nil else { return nil }
    var publication = told
    publication.targets = told.targets.prefix(PlanPublish.relayMaximum).compactMap { target in
      // `try?`: a target that is no relay was not sent the event.
      guard (try? RelayURL(target.relay))?.text == target.relay else { return nil }
      var target = target
      target.message = target.message.map { String($0.prefix(messageLength)) }
      target.why = String(target.why.prefix(messageLength))
      target.nextAttemptAt = nil
      guard target.state == .pending || target.state == .sent else { return target }
      (target.state, target.message) = (.cancelled, leftToPeer)
      return target
    }
    return publication.targets.isEmpty ? nil : publication
  }

  private func learn(_ told: Publication) async throws(Refusal) {
    let id = try Self.id(told.id)
    try await claim(.event(id))
    defer { release(.event(id)) }
    // What waits for the event store may still be refused by it; the other tells again within a day.
    guard unstored[id] == nil else { return }
    if try await inMemory(id) != nil {
      perform { $0.learned(id, told.targets, at: $1) }
      await writer.flush(id)
      defer { putBack(id) }
      if !queue.isRecorded(id), let fault = writer.health.fault { throw writer.health.refusal(fault) }
    } else if try await row(id) == nil, let author = PublicKey(told.author) {
      lastNumber += 1
      let publication = QueuedPublication(
        number: lastNumber, id: id, author: author, kind: told.kind, acceptedAt: min(told.acceptedAt, moment.time),
        expiresAt: told.expiresAt,
        targets: told.targets.map { QueuedTarget($0, manner: SendingManner(account: author, isForeign: true)) })
      try await writer.accept(LedgerBatch.Acceptance(publication, event: [], isStored: true))
      counts[publication.state, default: 0] += 1
    }
  }

  private func news(after change: Int64, by account: PublicKey) async throws(Refusal) -> PublishedNews {
    let found: (rows: [(row: LedgerRow, change: Int64)], last: Int64)
    do throws(StorageFault) {
      found = try await ledger.changes(after: change, by: account, limit: PublicationExchange.countMaximum)
    } catch {
      throw writer.health.refusal(error)
    }
    var news = PublishedNews(publications: [], next: found.last, isComplete: true)
    var byteCount = 0
    for (row, change) in found.rows {
      var publication = row.publication.publication
      for place in publication.targets.indices {
        publication.targets[place].message = publication.targets[place].message.map {
          String($0.prefix(Self.messageLength))
        }
      }
      byteCount += JSONPayload.encode(publication).count
      if byteCount > PublicationExchange.byteCountMaximum, !news.publications.isEmpty {
        news.isComplete = false
        return news
      }
      news.publications.append(publication)
      news.next = change
    }
    news.isComplete = found.rows.count < PublicationExchange.countMaximum
    if news.isComplete { news.next = found.last }
    return news
  }
}
