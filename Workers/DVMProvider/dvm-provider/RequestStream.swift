import Bus
import Contracts
import EventLoop
import Frames
import Logging
import Nostr
import NostrContracts
import WorkerKit

// Requests come in one way: as events that the store commits, in the order of their seq, from where the ledger stopped.
// It makes no difference whether a client of this machine or a relay has brought them. With the network, relays are
// asked for requests as well. The provider throws away what that observation sends: by then the store has it, and
// delivers it in its stream.

/// Follows the store's events.
@EventLoopActor
final class RequestStream {
  /// Takes the events.
  @EventLoopActor
  protocol Taker: AnyObject {
    /// Takes a verified event; the next one waits until this returns.
    func take(_ event: Event) async
    /// All events up to this seq were taken.
    func taken(upTo seq: Int64)
  }

  private let worker: Worker
  private let log: Logger
  private unowned let taker: any Taker
  private let filters: @EventLoopActor () -> [Filter]
  private var seq: Int64
  /// Counts how often the stream was begun again. What an answer of an earlier round still brings does not advance the
  /// seq.
  private var round = 0
  private var isOver = false
  private var answers: [BusAnswer] = []

  /// Longest wait before the store is asked again.
  private static let retryMillisecondsMaximum: UInt64 = 5_000

  /// - Parameters:
  ///   - filters: the events to follow; computed for each observation, because they depend on the date.
  ///   - seq: all events up to this one were taken before.
  ///   - taker: takes the events; it must outlive the stream.
  init(
    _ worker: Worker, _ log: Logger, filters: @escaping @EventLoopActor () -> [Filter], after seq: Int64,
    taker: any Taker
  ) {
    self.worker = worker
    self.log = log
    self.filters = filters
    self.seq = seq
    self.taker = taker
    repeatedly { [self] () async throws(Refusal) in try await follow() }
  }

  /// Asks relays as well.
  func askRelays(_ filters: @escaping @EventLoopActor () -> [Filter]) {
    repeatedly { [self] () async throws(Refusal) in
      var wanted = StoreObserve(filters: filters().map { JSONValue(of: $0) })
      wanted.policy = .networkOnly
      let answer = try await worker.bus.ask(StoreMethod.observe, wanted)
      answers.append(answer.answer)
      defer { answers.removeAll { $0 === answer.answer } }
      while try await answer.next() != nil {}
    }
  }

  /// Reads the store again from its beginning, because the date in the filters was wrong.
  func lookAgain() {
    seq = 0
    round += 1
    for answer in answers { answer.abandon(Refusal(.cancelled, "it is looked at from its beginning")) }
  }

  /// Takes no more events.
  func end() {
    isOver = true
    for answer in answers { answer.abandon(Refusal(.cancelled, "the provider is stopping")) }
  }

  private func repeatedly(_ body: @escaping @EventLoopActor () async throws(Refusal) -> Void) {
    worker.persist("the store's stream", ceilingMilliseconds: Self.retryMillisecondsMaximum, log) {
      [self] () async throws(Refusal) in
      if !isOver { try await body() }
      return isOver
    }
  }

  private func follow() async throws(Refusal) {
    let round = round
    var wanted = StoreObserve(filters: filters().map { JSONValue(of: $0) }, afterSeq: seq)
    wanted.policy = .cacheOnly
    wanted.pages = true
    let answer = try await worker.bus.ask(StoreMethod.observe, wanted)
    guard round == self.round else { return answer.abandon(Refusal(.cancelled, "it is looked at from its beginning")) }
    answers.append(answer.answer)
    defer { answers.removeAll { $0 === answer.answer } }
    while let part = try await answer.nextPart(), !isOver, round == self.round {
      guard part.isRaw else {
        let end = try JSONPayload.decode(StoredEnd.self, from: part.bytes)
        guard end.seq >= seq else {
          // The store counts from its beginning again. Requests that were taken before are known by their ids.
          log.warning("the store is another one: it is looked at from its beginning")
          seq = 0
          answer.abandon(Refusal(.cancelled, "it is looked at from its beginning"))
          return
        }
        looked(end.seq)
        continue
      }
      try await take(part.bytes, round)
    }
  }

  private func take(_ page: [UInt8], _ round: Int) async throws(Refusal) {
    let records: [EventPage.Record]
    do throws(EventPage.Problem) { records = try EventPage.read(page) } catch {
      throw Refusal(.badPayload, error.description)
    }
    for record in records {
      guard !isOver else { return }
      // The store could read it; an event that this program cannot read is skipped.
      if let event = try? Event(json: Array(page[record.bytes])) { await taker.take(event) }
      guard round == self.round else { return }
      if let seq = record.seq { looked(seq) }
    }
  }

  private func looked(_ seq: Int64) {
    guard seq > self.seq else { return }
    self.seq = seq
    if !isOver { taker.taken(upTo: seq) }
  }
}
