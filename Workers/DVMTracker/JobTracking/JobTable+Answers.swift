internal import Contracts
internal import Cryptography
public import Nostr

// Events from the store: all answers to any job, and all receipts for zaps. Few of them are ours.

extension JobTable {
  /// Events of kinds 6000 to 7000 and 9735 that the store has committed, in the order of their seq. The store has
  /// verified their signatures.
  ///
  /// - Parameters:
  ///   - events: the events.
  ///   - cursor: all events up to this seq have now been looked at.
  ///   - now: milliseconds since 1970.
  public mutating func received(_ events: [Event], cursor: Int64, at now: Int64) -> [JobAction] {
    for event in events {
      if event.kind == EventKind.zapReceipt { takeReceipt(event, at: now) } else { take(event, at: now) }
    }
    queued.cursor = max(queued.cursor ?? cursor, cursor)
    return finish(at: now)
  }

  /// The event store is another one, with its own seqs: none of its events was looked at.
  public mutating func storeBegan(at now: Int64) -> [JobAction] {
    queued.cursor = 0
    return finish(at: now)
  }

  private mutating func take(_ event: Event, at now: Int64) {
    guard let named = Self.requestID(of: event), let id = requestJobs[named] else { return }
    guard let record = records[id] else { return takeLate(event, named, id, at: now) }
    guard !record.known.contains(event.id), let request = record.request(named),
      let answer = JobAnswerFact(event, to: request, limits)
    else { return }
    guard makeRoom(for: answer, id, record) else {
      records[id]?.droppedCount += 1
      return
    }
    answerCount += 1
    note(id, .answered(answer), at: now)
  }

  /// The request that an answer names; nil if the event is not an answer.
  private static func requestID(of event: Event) -> EventID? {
    // `try?`: kinds in this range are also used for other things.
    event.kind == EventKind.jobFeedback
      ? (try? JobFeedback(event))?.answer.requestID : (try? JobResult(event))?.answer.requestID
  }

  /// An answer to a closed job. It is kept without its content.
  private mutating func takeLate(_ event: Event, _ request: EventID, _ id: JobID, at now: Int64) {
    guard lateCounts[id, default: 0] < limits.lateMaximum else { return }
    lateCounts[id, default: 0] += 1
    answerCount += 1
    let answer = JobAnswerFact(
      event: event.id, request: request, provider: event.pubkey, kind: event.kind, createdAt: event.createdAt)
    noteLate(id, .answered(answer), at: now)
  }
}
