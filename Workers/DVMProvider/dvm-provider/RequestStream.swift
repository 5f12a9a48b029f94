import Bus
import Contracts
import EventLoop
import Frames
import Logging
import Nostr
import NostrContracts
import WorkerKit

// Requests come by one road: what the store commits, by its seq, from where the ledger stands. Who has brought them,
// a client of this machine or a relay, makes no difference. With the network, relays are asked for requests as well;
// what that observation sends is thrown away, for the store has it by then, and it comes by the road.

/// Follows the store's events.
@EventLoopActor
final class RequestStream {
  /// Who takes what comes.
  @EventLoopActor
  protocol Taker: AnyObject {
    /// An event, verified; the next one waits until this returns.
    func take(_ event: Event) async
    /// All up to this seq was taken.
    func taken(upTo seq: Int64)
  }

  private let worker: Worker
  private let log: Logger
  private unowned let taker: any Taker
  private let filters: @EventLoopActor () -> [Filter]
  private var seq: Int64
  /// Counts how often it was begun again: what an answer of an earlier round still brings moves nothing.
  private var round = 0
  private var isOver = false
  private var answers: [BusAnswer] = []

  /// Longest wait until the store is asked again.
  private static let retryMillisecondsMaximum: UInt64 = 5_000

  /// - Parameters:
  ///   - filters: what is followed; asked for each time, since it depends on the date.
  ///   - seq: all up to this one was taken before.
  ///   - taker: takes what comes; it lives longer than this.
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

  /// Has relays asked as well.
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

  /// Begins again with what the store has: the date by which it was asked was wrong.
  func lookAgain() {
    seq = 0
    round += 1
    for answer in answers { answer.abandon(Refusal(.cancelled, "it is looked at from its beginning")) }
  }

  /// Takes nothing any more.
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
          // The store begins again; what it has that was taken before is known by its id.
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
      // The store has read it before; what is none to this program is passed by.
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
