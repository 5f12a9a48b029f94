import Addresses
import Bus
import Contracts
import Cryptography
import EventLoop
import Frames
import WorkerLedger
import LinuxSystem
import Logging
import Nostr
import NostrContracts
import Storage
import WorkerKit

// Lists: profiles, follow lists, relay lists, and those of NIP-51. Only the newest version exists. A client that writes
// a new version from an incomplete old one loses the other entries everywhere, and no relay returns them. So the
// planner refuses a version that lacks entries of the stored one, unless the caller sets `replace`, and then it keeps
// the stored one.

extension PublishService {
  /// Most relays named in one sentence.
  private static let namedMaximum = 3
  /// How long the store has for one query.
  private static let lookMilliseconds: UInt32 = 10_000

  /// Refuses a profile that no client can read.
  static func expectReadable(_ event: Event) throws(Refusal) {
    guard let flaw = ListEntries.flaw(ofProfile: event) else { return }
    throw Refusal(.invalidEvent, flaw, outcome: .notStarted)
  }

  /// Compares an event with the version of the list that it replaces.
  ///
  /// - Returns: that version, if the event lacks entries of it and `isMeant` is set.
  /// - Throws: `would-replace` when `isMeant` is not set, or when it cannot be determined whether there is such a
  ///   version.
  func replaced(by event: Event, isMeant: Bool, named: [RelayURL]?) async throws(Refusal) -> (Event, ListLoss)? {
    guard ListEntries.areLists(ofKind: event.kind) else { return nil }
    let filter = ListEntries.versions(of: event)
    var stored = try await newest(filter)
    if stored == nil, !isMeant {
      let silent = await planner.findList(filter, by: event.pubkey, named: named ?? [])
      guard silent.isEmpty else {
        let named = silent.prefix(Self.namedMaximum).joined(separator: ", ")
        let more = silent.count > Self.namedMaximum ? " and \(silent.count - Self.namedMaximum) more" : ""
        throw Refusal(
          .wouldReplace,
          "whether this would replace a \(event.kind == EventKind.metadata ? "profile" : "list") is not known: none "
            + "is stored here, and \(named)\(more) did not answer; try again when they can be reached, or "
            + Self.howToInsist, outcome: .notStarted)
      }
      stored = try await newest(filter)
    }
    guard let stored, let loss = ListEntries.loss(from: stored, to: event) else { return nil }
    guard isMeant else {
      throw Refusal(.wouldReplace, "\(loss.sentence); \(Self.howToInsist)", outcome: .notStarted)
    }
    return (stored, loss)
  }

  private static let howToInsist = "say 'replace' if that is meant (roost publish --replace)"

  /// Keeps a version of a list before another version replaces it.
  ///
  /// - Parameter mustKeep: whether the new version is refused when the old one cannot be kept. A Nostr application
  ///   cannot answer a question, so a fault of this file does not prevent it from changing lists.
  /// - Returns: the version's id, if it was not kept before.
  /// - Throws: `disk-full`; `unavailable`; `invalid-event` when the signature of the new version is not by its author.
  func keep(
    _ stored: Event, _ loss: ListLoss, for event: Event, mustKeep: Bool
  ) async throws(Refusal) -> String? {
    // Only its author can have a version of a list kept.
    try Self.verify(event)
    guard let replacedLists else {
      let words = "replaced.db could not be opened, as the log says"
      guard !mustKeep else {
        throw Refusal(.unavailable, "the version before cannot be kept: \(words)", outcome: .notStarted)
      }
      log.warning(
        "a list has lost entries, and its version before is not kept",
        metadata: ["kind": "\(event.kind)", "author": "\(event.pubkey)", "why": "\(words)"])
      return nil
    }
    var list = Self.version(stored, loss.before)
    list.after = loss.after
    let isNew: Bool
    do throws(StorageFault) { isNew = try await replacedLists.keep(list, stored.json) } catch {
      let refusal = replacedHealth.refusal(error)
      guard !mustKeep else { throw refusal }
      log.warning(
        "a list has lost entries, and its version before is not kept",
        metadata: ["kind": "\(event.kind)", "author": "\(event.pubkey)", "why": "\(error)"])
      return nil
    }
    log.notice(
      "a list has lost entries; its version before is kept",
      metadata: [
        "kind": "\(event.kind)", "author": "\(event.pubkey)", "before": "\(loss.before)", "after": "\(loss.after)",
        "kept": "\(stored.id)",
      ])
    return isNew ? list.id : nil
  }

  /// The event that was to replace a list was refused: the list is not lost, so its version is not kept.
  func unkeep(for event: EventID) async {
    guard let id = keptVersions.removeValue(forKey: event) else { return }
    do throws(StorageFault) { try await replacedLists?.forget(id) } catch {
      log.warning("a list is kept that was not replaced", metadata: ["id": "\(id)", "why": "\(error)"])
    }
  }

  /// A list was published: its kept versions record how many entries it has now.
  func noteVersion(_ event: Event) async {
    guard let entries = ListEntries(event) else { return }
    do throws(StorageFault) {
      try await replacedLists?.published(Self.version(event, entries.count), entries.count)
    } catch { log.warning("kept lists are not brought up to date", metadata: ["why": "\(error)"]) }
  }

  private static func version(_ event: Event, _ count: Int) -> ReplacedList {
    ReplacedList(
      id: "\(event.id)", kind: event.kind, author: "\(event.pubkey)",
      identifier: EventAddress(of: event)?.identifier.description ?? "", replacedAt: WallClock.seconds,
      before: count, after: count)
  }

  private func newest(_ filter: Filter) async throws(Refusal) -> Event? {
    try await stored([filter]).max { ($0.createdAt, $1.id) < ($1.createdAt, $0.id) }
  }

  private func stored(_ filters: [Filter]) async throws(Refusal) -> [Event] {
    do throws(Refusal) {
      let answer = try await worker.bus.ask(
        StoreMethod.query, StoreQuery(filters: filters.map { JSONValue(of: $0) }),
        ttlMilliseconds: Self.lookMilliseconds)
      var found: [Event] = []
      while let part = try await answer.nextPart() {
        // `try?`: the store has verified it; an event that cannot be read counts as missing.
        if let event = try? Event(json: part.bytes) { found.append(event) }
      }
      return found
    } catch {
      throw Refusal(
        .unavailable, "the event store cannot be asked (\(error.message)); nothing was done", outcome: .notStarted,
        retryAfterMilliseconds: UInt32(Self.storeAgainMilliseconds))
    }
  }

  // MARK: Deletions

  /// Most events looked up for one deletion request.
  private static let deletionMaximum = 64

  /// The parts of a deletion request that have no effect: an author can delete only its own events (NIP-09).
  func remarks(on event: Event) async -> [String]? {
    guard event.kind == EventKind.deletion else { return nil }
    let ids = event.values(of: "e").compactMap { EventID($0) }.prefix(Self.deletionMaximum)
    var remarks = event.values(of: "a").compactMap { EventAddress($0) }.filter { $0.pubkey != event.pubkey }
      .prefix(Self.deletionMaximum).map { Self.nothing("\($0)", $0.pubkey) }
    // Events that the store does not have stay unknown: the request is published already, and does not wait for them.
    // `try?`: if the store does not answer, there are no remarks, which are a courtesy.
    if !ids.isEmpty, let found = try? await stored([Filter(ids: Array(ids))]) {
      // The recipient deletes a gift wrap: the key that signed it belongs to no account (NIP-59).
      for other in found where other.pubkey != event.pubkey && !EventKind.giftWraps.contains(other.kind) {
        remarks.append(Self.nothing(other.id.note, other.pubkey))
      }
    }
    return remarks.isEmpty ? nil : remarks
  }

  private static func nothing(_ what: String, _ author: PublicKey) -> String {
    "it does nothing for \(what): that is by \(author.npub), and only its author can delete it"
  }

  // MARK: plan.replaced

  func listReplaced(_ request: BusRequest, _ wanted: PlanReplaced) async throws(Refusal) -> StoreCount? {
    let id = try wanted.id.map { text throws(Refusal) in try Self.id(text) }
    guard let kept = replacedLists else {
      throw Refusal(.failed, "no list is kept: replaced.db could not be opened; the log says why", outcome: .notStarted)
    }
    var found = Array(kept.lists.reversed())
    if let id {
      found = found.filter { $0.id == "\(id)" }
      guard !found.isEmpty else {
        throw Refusal(.noSuchEvent, "\(id) is no version of a list that is kept", outcome: .notStarted)
      }
    }
    do throws(StorageFault) {
      if id != nil, let bytes = try await kept.event(found[0].id) {
        found[0].event = try? JSONPayload.decode(JSONValue.self, from: bytes)  // The store verified it.
      }
      if wanted.forget == true { try await replacedLists?.forget(found[0].id) }
    } catch {
      throw replacedHealth.refusal(error)
    }
    for list in found { try await request.send(named(list), of: PlanMethod.replaced) }
    return StoreCount(count: found.count)
  }

  /// The same, with the name of its author's account.
  func named(_ list: ReplacedList) -> ReplacedList {
    var list = list
    list.account = PublicKey(list.author).flatMap { planner.accountName($0) }
    return list
  }
}
