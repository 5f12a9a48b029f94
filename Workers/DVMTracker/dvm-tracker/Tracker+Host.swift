import Bus
import Clocks
import Contracts
import Cryptography
import EventLoop
import Frames
import JobTracking
import Nostr
import WorkerKit

// The provider of this machine: before a job is accepted, the tracker asks whether that provider serves it.

extension Tracker {
  /// How long the provider here may take while a submitter waits.
  static let patienceMilliseconds: UInt32 = 5_000

  /// Between two questions to a provider that has not answered.
  private static let pauseMilliseconds: UInt64 = 200

  /// Whether the provider of this machine serves a job that names no other provider. The tracker waits for a provider
  /// that is being started, until it knows its key: a job that this machine does must not be published to the world,
  /// and a job that names no provider would wait for others when this one answers with an error.
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

  /// What the provider of this machine says of itself; nil when this machine has no provider.
  func servingStatus(ttlMilliseconds ttl: UInt32 = patienceMilliseconds) async throws(Refusal) -> ServingStatus? {
    guard bus.registry.members.contains(where: { $0.role == Role.dvmProvider.name }) else { return nil }
    return try await bus.request(ProviderMethod.status, NoArguments(), ttlMilliseconds: ttl)
  }
}
