import Bus
import Clocks
import Contracts
import Cryptography
import EventLoop
import Frames
import JobTracking
import LinuxSystem
import Logging
import Nostr
import WorkerKit

// Who serves a job: what others are asked before it is accepted. Whose it is says the `CustomerAccounts`.

extension Tracker {
  /// How long the provider here may take while somebody waits for a job to be accepted.
  static let patienceMilliseconds: UInt32 = 5_000

  /// Until it is asked again what it did not say.
  private static let pauseMilliseconds: UInt64 = 200

  /// Whether the provider of this machine serves a job that nobody else is named for. A provider that is being started
  /// is waited for, until it knows its key: what it would do here is not to be asked of the world, and a job that names
  /// nobody would go on waiting for others when it says error.
  func served(_ submit: JobSubmit) async throws(Refusal) -> (isHere: Bool, by: PublicKey?) {
    guard JobHost.mayBeMeant(by: submit) else { return (false, nil) }
    let ownKeys = submit.providers?.isEmpty == false ? try await accounts.keys() : []
    let end = EventLoop.process.now.advanced(milliseconds: UInt64(Self.patienceMilliseconds))
    while true {
      let start = EventLoop.process.now
      let left = start < end ? end.milliseconds(since: start) : 0
      let host = await host(ttlMilliseconds: UInt32(clamping: max(1, left)))
      let isFinal = EventLoop.process.now.advanced(milliseconds: Self.pauseMilliseconds) >= end
      do throws(Refusal) { return try host.place(of: submit, ownKeys: ownKeys, isFinal: isFinal) } catch {
        if isFinal { throw error }
      }
      await EventLoopActor.sleep(milliseconds: Self.pauseMilliseconds)
    }
  }

  private func host(ttlMilliseconds ttl: UInt32) async -> JobHost {
    do throws(Refusal) { return try await servingStatus(ttlMilliseconds: ttl).map { .told($0) } ?? .absent } catch {
      return .silent(error)
    }
  }

  /// What the provider of this machine says of itself; nil when there is none.
  func servingStatus(ttlMilliseconds ttl: UInt32 = patienceMilliseconds) async throws(Refusal) -> ServingStatus? {
    guard bus.registry.members.contains(where: { $0.role == Role.dvmProvider.name }) else { return nil }
    return try await bus.request(ProviderMethod.status, NoArguments(), ttlMilliseconds: ttl)
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
      StoreMethod.query, StoreQuery(filters: [Self.value(filter)]),
      ttlMilliseconds: Self.patienceMilliseconds)
    var found: [HandlerInformation] = []
    while let part = try await answer.nextPart() {
      // What is no announcement that can be read says nothing.
      guard let event = try? Event(json: part.bytes), let read = try? HandlerInformation(event),
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
      let answer = try await bus.ask(StoreMethod.observe, wanted)
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
