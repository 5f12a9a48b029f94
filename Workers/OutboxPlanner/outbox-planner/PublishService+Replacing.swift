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

// Lists, of which the newest version is the only one there is: profiles, whom one follows, one's relays, and those of
// NIP-51. Whoever writes a new one from less than he had loses the rest everywhere, and no relay gives it back. So a
// version that lacks entries of the one before is refused unless it is said to be meant, and the one before is kept.

extension PublishService {
  /// Relays named in one sentence.
  private static let namedMaximum = 3
  /// How long the store has for one look.
  private static let lookMilliseconds: UInt32 = 10_000

  /// Refuses a profile that nobody can read.
  static func expectReadable(_ event: Event) throws(Refusal) {
    guard let flaw = ListEntries.flaw(ofProfile: event) else { return }
    throw Refusal(.invalidEvent, flaw, outcome: .notStarted)
  }

  /// Looks at the version of a list that an event takes the place of.
  ///
  /// - Returns: that version, if the event lacks entries of it, and that is meant.
  /// - Throws: `would-replace` when it is not meant, or when nobody knows whether there is such a version.
  func replaced(by event: Event, isMeant: Bool, named: [RelayURL]?) async throws(Refusal) -> (Event, ListLoss)? {
    guard ListEntries.areLists(ofKind: event.kind) else { return nil }
    let filter = ListEntries.versions(of: event)
    var stored = try await newest(filter)
    if stored == nil, !isMeant {
      let silent = await routes.findList(filter, by: event.pubkey, named: named ?? [])
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

  /// Keeps a version of a list before another one takes its place.
  ///
  /// - Parameter mustKeep: whether the new one is refused where none can be kept. An application that speaks Nostr
  ///   cannot be asked what it means, and is not kept from changing lists by a file of ours.
  /// - Returns: the version's id, if it is kept only now.
  /// - Throws: `disk-full`; `unavailable`; `invalid-event` when the new one is not its author's.
  func keep(
    _ stored: Event, _ loss: ListLoss, for event: Event, mustKeep: Bool
  ) async throws(Refusal) -> String? {
    // Nobody but its author has a version of a list kept.
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

  /// The event that was to take the place of a list was refused: nothing is lost, and nothing is kept.
  func unkeep(for event: EventID) async {
    guard let id = keptVersions.removeValue(forKey: event) else { return }
    do throws(StorageFault) { try await replacedLists?.forget(id) } catch {
      log.warning("a list is kept that was not replaced", metadata: ["id": "\(id)", "why": "\(error)"])
    }
  }

  /// A list was published: versions that are kept are told how many entries it has now.
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
        // `try?`: the store has verified it; what cannot be read is as if it were not there.
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

  /// Events looked up of one request to delete.
  private static let deletionMaximum = 64

  /// What a request to delete does nothing for: only its author's own events are meant (NIP-09).
  func remarks(on event: Event) async -> [String]? {
    guard event.kind == EventKind.deletion else { return nil }
    let ids = event.values(of: "e").compactMap { EventID($0) }.prefix(Self.deletionMaximum)
    var remarks = event.values(of: "a").compactMap { EventAddress($0) }.filter { $0.pubkey != event.pubkey }
      .prefix(Self.deletionMaximum).map { Self.nothing("\($0)", $0.pubkey) }
    // What the store has not is not known, and nobody waits for it: the request is published already.
    // `try?`: a store that is away says nothing of them either; the remarks are a courtesy.
    if !ids.isEmpty, let found = try? await stored([Filter(ids: Array(ids))]) {
      // A gift wrap is deleted by whom it is for: its signer is nobody's (NIP-59).
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
        found[0].event = try? JSONPayload.decode(JSONValue.self, from: bytes)  // It was verified by the store.
      }
      if wanted.forget == true { try await replacedLists?.forget(found[0].id) }
    } catch {
      throw replacedHealth.refusal(error)
    }
    for list in found { try await request.send(named(list), of: PlanMethod.replaced) }
    return StoreCount(count: found.count)
  }

  /// The same with its author's account.
  func named(_ list: ReplacedList) -> ReplacedList {
    var list = list
    list.account = PublicKey(list.author).flatMap { routes.accountName($0) }
    return list
  }
}
