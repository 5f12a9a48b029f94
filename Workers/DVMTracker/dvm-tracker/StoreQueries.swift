import Bus
import Contracts
import Cryptography
import EventLoop
import Frames
import Logging
import Nostr
import NostrContracts

/// What the tracker asks the event store about accounts and providers.
@EventLoopActor
struct StoreQueries {
  let bus: BusConnection
  let log: Logger

  /// How long the store may take while a caller waits.
  private static let answerMilliseconds: UInt32 = 5_000
  /// Announcements read for one answer.
  private static let announcementMaximum = 1_000
  /// How long relays are asked for announcements.
  private static let fetchMilliseconds: UInt64 = 3_000

  private func events(_ filter: Filter) async throws(Refusal) -> [Event] {
    let answer = try await bus.ask(
      StoreMethod.query, StoreQuery(filters: [JSONValue(of: filter)]), ttlMilliseconds: Self.answerMilliseconds)
    var found: [Event] = []
    while let part = try await answer.nextPart() {
      // `try?`: the store has verified it; a form that cannot be read is as if it were not there.
      if let event = try? Event(json: part.bytes) { found.append(event) }
    }
    return found
  }

  /// The newest event of a kind that the store has of an author.
  func newest(_ kind: UInt16, of author: PublicKey) async throws(Refusal) -> Event? {
    try await events(Filter(authors: [author], kinds: [kind], limit: 1)).first
  }

  // MARK: Announcements (NIP-89)

  private static func announcements(_ kind: UInt16?, _ author: PublicKey? = nil) -> Filter {
    var filter = Filter(
      authors: author.map { [$0] }, kinds: [EventKind.handlerInformation], limit: announcementMaximum)
    if let kind, let letter = TagLetter("k") { filter.tags[letter] = [TagValue("\(kind)")] }
    return filter
  }

  /// What providers of a kind have announced, the newest first.
  func announcements(_ kind: UInt16?, of author: PublicKey? = nil) async throws(Refusal) -> [HandlerInformation] {
    // `try?`: an event that cannot be read announces nothing.
    try await events(Self.announcements(kind, author)).compactMap { try? HandlerInformation($0) }
      .filter { !$0.jobKinds.isEmpty }
  }

  /// Has relays asked for announcements for a while; those that they have are in the store then.
  func fetchAnnouncements(_ kind: UInt16?) async {
    var wanted = StoreObserve(filters: [JSONValue(of: Self.announcements(kind))])
    wanted.policy = .networkOnly
    do throws(Refusal) {
      let answer = try await bus.ask(StoreMethod.observe, wanted)
      EventLoopActor.task {
        // The parts are not read here: their events come to the store.
        while (try? await answer.nextPart()) != nil {}
      }
      await EventLoopActor.sleep(milliseconds: Self.fetchMilliseconds)
      answer.abandon(Refusal(.cancelled, "no longer awaited", outcome: .done))
    } catch { log.debug("relays cannot be asked", metadata: ["why": "\(error.message)"]) }
  }
}
