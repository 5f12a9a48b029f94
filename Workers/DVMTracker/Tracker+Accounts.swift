import Bus
import Contracts
import Cryptography
import EventLoop
import Frames
import LinuxSystem
import Logging
import Nostr
import WorkerKit

// Who serves a job: what others are asked before it is accepted. Whose it is says the `AccountBook`.

extension Tracker {
  /// How long the provider here may take while somebody waits for a job to be accepted.
  private static let patienceMilliseconds: UInt32 = 5_000

  /// Whether the provider of this machine serves a job that nobody else is named for. A provider that is being started
  /// is waited for: what it would do here is not to be asked of the world. With it the key by which it answers, once
  /// that is known.
  func served(_ submit: JobSubmit) async throws(Refusal) -> (isHere: Bool, by: PublicKey?) {
    // `try?`: a name that is no key is refused when the job is looked at.
    let named = Set((submit.providers ?? []).map { try? PublicKey(spelled: $0) })
    guard submit.reach != .relays, named.count <= 1, submit.relays?.isEmpty != false else { return (false, nil) }
    let status: ServingStatus?
    do throws(Refusal) { status = try await servingStatus() } catch {
      // A job that stays here in any case goes to whoever else is here, and one for somebody who is named to them.
      if submit.reach == .local || !named.isEmpty { return (false, nil) }
      throw error
    }
    guard let status, status.services.contains(where: { $0.kind == submit.kind }) else { return (false, nil) }
    let host = status.provider.flatMap { PublicKey($0) }
    return named.isEmpty || named == [host] ? (true, host) : (false, nil)
  }

  /// What the provider of this machine says of itself; nil when there is none.
  func servingStatus() async throws(Refusal) -> ServingStatus? {
    guard bus.registry.members.contains(where: { $0.role == Role.dvmProvider.name }) else { return nil }
    let answer = try await bus.request(
      "dvm.status", BusPayload(json: NoArguments()), ttlMilliseconds: Self.patienceMilliseconds)
    return try answer.decoded(as: ServingStatus.self)
  }

  // MARK: Announcements (NIP-89)

  /// Announcements looked at for one answer.
  private static let announcementMaximum = 1_000
  /// How long relays are asked for announcements.
  private static let fetchMilliseconds: UInt64 = 3_000

  private static func filter(_ kind: UInt16?, authors: [PublicKey]? = nil) -> Filter {
    var filter = Filter(authors: authors, kinds: [EventKind.handlerInformation], limit: announcementMaximum)
    if let kind, let letter = TagLetter("k") { filter.tags[letter] = [TagValue("\(kind)")] }
    return filter
  }

  /// What is announced of providers of a kind, the newest first.
  func announcements(_ kind: UInt16?, of author: PublicKey? = nil) async throws(Refusal) -> [HandlerInformation] {
    let filter = Self.filter(kind, authors: author.map { [$0] })
    let answer = try await bus.ask(
      "store.query", BusPayload(json: StoreQuery(filters: [Self.value(filter)])),
      ttlMilliseconds: Self.patienceMilliseconds)
    var found: [HandlerInformation] = []
    while let part = try await answer.nextPart(), !part.isLast {
      // What is no announcement that can be read says nothing.
      guard let event = try? Event(json: part.payload.bytes), let read = try? HandlerInformation(event),
        !read.jobKinds.isEmpty
      else { continue }
      found.append(read)
    }
    return found
  }

  /// Has relays asked for announcements for a while; what they have is in the store then.
  func fetchAnnouncements(_ kind: UInt16?) async {
    var wanted = StoreObserve(filters: [Self.value(Self.filter(kind))])
    wanted.policy = .networkOnly
    do throws(Refusal) {
      let answer = try await bus.ask("store.observe", BusPayload(json: wanted))
      EventLoopActor.task {
        // Nothing of it is read here: it comes to the store.
        while (try? await answer.nextPart()) != nil {}
      }
      await EventLoopActor.sleep(milliseconds: Self.fetchMilliseconds)
      answer.abandon(Refusal(.cancelled, "not awaited any more", outcome: .done))
    } catch { log.debug("relays cannot be asked", metadata: ["why": "\(error.message)"]) }
  }

  /// A filter as it stands in payloads.
  static func value(_ filter: Filter) -> JSONValue {
    do throws(Refusal) { return try JSONPayload.decode(JSONValue.self, from: filter.json) } catch {
      preconditionFailure("a filter's own JSON can be read: \(error.message)")
    }
  }
}
