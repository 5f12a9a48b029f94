import Bus
import Contracts
import EventLoop
import Frames
import Logging
import Nostr
import NostrContracts
import WorkerKit

/// Reads every answer, and every receipt for a zap, that the event store commits, by seq, from any source.
@EventLoopActor
final class AnswerReader {
  /// Called with the next events, and the seq that is read up to.
  var onEvents: (@EventLoopActor ([Event], Int64) -> Void)?
  /// Called when the store is another one, and is read from its beginning.
  var onOtherStore: (@EventLoopActor () -> Void)?
  /// All up to this seq is read; nil before the first event, of a tracker that has had no job.
  private(set) var cursor: Int64?

  private let worker: Worker
  private let log: Logger
  private var answer: BusAnswer?

  /// Events of one step of the machine.
  private static let stepMaximum = 500

  init(_ worker: Worker, _ log: Logger, cursor: Int64?) {
    (self.worker, self.log, self.cursor) = (worker, log, cursor)
  }

  /// Reads from where the last process stopped.
  func begin() {
    worker.persist("the observation of answers", ceilingMilliseconds: Tracker.retryMillisecondsMaximum, log) {
      [self] () async throws(Refusal) in
      var filter = Filter(kinds: Array(EventKind.jobResults) + [EventKind.jobFeedback, EventKind.zapReceipt])
      // A tracker that has had no job waits for no old answer.
      if cursor == nil { filter.limit = 0 }
      var wanted = StoreObserve(filters: [JSONValue(of: filter)], afterSeq: cursor)
      wanted.policy = .cacheOnly
      wanted.pages = true
      let parts = try await worker.bus.ask(StoreMethod.observe, wanted)
      answer = parts.answer
      while let part = try await parts.nextPart() {
        if part.isRaw {
          try take(page: part.bytes)
        } else if try takeEnd(part) {
          parts.abandon(Refusal(.cancelled, "the store is another one"))
          return false
        }
      }
      return false
    }
  }

  /// Reads no more.
  func end(_ refusal: Refusal) { answer?.abandon(refusal) }

  private func take(page: [UInt8]) throws(Refusal) {
    let records: [EventPage.Record]
    do throws(EventPage.Problem) { records = try EventPage.read(page) } catch {
      throw Refusal(.badPayload, "\(error)")
    }
    var events: [Event] = []
    for (index, record) in records.enumerated() {
      // `try?`: the store has verified it; a form that cannot be read answers nothing.
      if let event = try? Event(json: Array(page[record.bytes])) { events.append(event) }
      let seq = max(cursor ?? .min, record.seq ?? cursor ?? 0)
      cursor = seq
      if events.count == Self.stepMaximum || index == records.count - 1 {
        onEvents?(events, seq)
        events = []
      }
    }
  }

  /// All that was stored has come.
  ///
  /// - Returns: whether the store is behind where it was: it is another one, and is read from its beginning.
  private func takeEnd(_ part: ObservedEvents) throws(Refusal) -> Bool {
    let seq = try JSONPayload.decode(StoredEnd.self, from: part.bytes).seq
    if let cursor, seq < cursor {
      log.warning("the event store has a new file: all its answers are read", metadata: ["seq": "\(seq)"])
      self.cursor = 0
      onOtherStore?()
      return true
    }
    cursor = seq
    onEvents?([], seq)
    return false
  }
}
