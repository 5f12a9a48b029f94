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

// The provider's announcement (NIP-89, kind 31990). If the settings want one, it is published unless the store has it
// in the same words. If they do not, the one in the store is deleted. The store keeps what is published here, so it
// tells what was announced.

/// Announces the provider, or deletes its announcement.
@EventLoopActor
final class Announcer {
  private unowned let provider: Provider
  private let key: PublicKey

  /// The `d` tag: it tells the programs of one author apart.
  private static let identifier = "roost-dvm-provider"
  /// Longest wait before the next attempt.
  private static let retryMillisecondsMaximum: UInt64 = 5_000
  private static let answerMilliseconds: UInt32 = 10_000

  init(_ provider: Provider, _ key: PublicKey) {
    self.provider = provider
    self.key = key
  }

  /// Announces, or deletes, as soon as that is possible.
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
        // An event dated the same second might not replace the earlier one.
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
