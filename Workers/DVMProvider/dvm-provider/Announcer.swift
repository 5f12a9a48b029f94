import Bus
import Contracts
import Cryptography
import EventLoop
import Frames
import LinuxSystem
import Logging
import Nostr
import NostrContracts
import WorkerKit

// What the provider says of itself in public (NIP-89, kind 31990): said when the settings want it and it is not said
// yet in these words, and taken back by a deletion when they do not. What was said is read from the store, which keeps
// what is published here.

/// Announces the provider, or takes that back.
@EventLoopActor
final class Announcer {
  private unowned let provider: Provider
  private let key: PublicKey

  /// Which of the author's programs it is.
  private static let identifier = "roost-dvm-provider"
  /// Longest wait until it is tried again.
  private static let retryMillisecondsMaximum: UInt64 = 5_000
  private static let answerMilliseconds: UInt32 = 10_000

  init(_ provider: Provider, _ key: PublicKey) {
    self.provider = provider
    self.key = key
  }

  /// Does it, as soon as it can be done.
  func begin() {
    provider.worker.persist("the announcement", ceilingMilliseconds: Self.retryMillisecondsMaximum, provider.log) {
      [self] () async throws(Refusal) in
      try await attempt()
      return true
    }
  }

  private func attempt() async throws(Refusal) {
    guard let answers = provider.answers else { return }
    let said = try await said()
    guard provider.configuration.settings.announce else {
      if let said { try await publish(retraction(of: said), answers, deleting: said) }
      return
    }
    let template = try template(after: said)
    if let said, said.tags == template.tags, said.content == template.content { return }
    try await publish(template, answers)
    provider.log.notice("announced", metadata: ["provider": "\(key.npub)"])
  }

  private func publish(
    _ template: UnsignedEvent, _ answers: CustomerReplies, deleting said: Event? = nil
  ) async throws(Refusal) {
    let event = try await answers.signed(template, deleting: said)
    try await answers.publish(event.json, for: nil, within: Self.answerMilliseconds)
  }

  private func said() async throws(Refusal) -> Event? {
    guard let letter = TagLetter("d") else { return nil }
    let filter = Filter(
      authors: [key], kinds: [EventKind.handlerInformation], tags: [letter: [TagValue(Self.identifier)]], limit: 1)
    let answer = try await provider.bus.ask(StoreMethod.query, StoreQuery(filters: [JSONValue(of: filter)]))
    var found: Event?
    while let part = try await answer.nextPart() {
      if found == nil { found = try? Event(json: part.bytes) }  // The store has verified it.
    }
    return found
  }

  private func template(after said: Event?) throws(Refusal) -> UnsignedEvent {
    let configuration = provider.configuration
    let settings = configuration.settings
    var details = HandlerInformation.Details()
    details.name = settings.name.isEmpty ? "Roost" : settings.name
    details.about = settings.about.isEmpty ? nil : settings.about
    details.supportsEncryption = true
    do throws(JobDraftFault) {
      return try HandlerInformation.template(
        Self.identifier, kinds: configuration.services.map(\.kind).sorted(), details: details, by: key,
        // One of the same second would not take the other's place.
        createdAt: max(WallClock.seconds, said.map { $0.createdAt + 1 } ?? 0))
    } catch { throw Refusal(.badRequest, "the announcement cannot be written: \(error)") }
  }

  private func retraction(of said: Event) -> UnsignedEvent {
    UnsignedEvent(
      pubkey: key, createdAt: max(WallClock.seconds, said.createdAt), kind: EventKind.deletion,
      tags: [
        ["e", said.id.description], ["a", "\(said.kind):\(key):\(Self.identifier)"], ["k", "\(said.kind)"],
      ])
  }
}
