public import Nostr

// What the asking side knows of one reconciliation, from the first message to the last. Which records the other side
// lacks is one bit for each record, because a message may be reported again and the other side may lack all of them.

/// The asking side of one reconciliation: its records, and which of them the other side lacks. A value without I/O.
public struct AskingSide: Sendable {
  /// This side's records and the protocol.
  public let reconciler: Reconciler
  /// The messages that were received.
  public private(set) var messageCount = 0
  /// How many records the other side lacks, so far.
  public private(set) var absentCount = 0
  /// The records that the last answer has shown to be lacking at the other side, each once.
  public private(set) var newlyAbsent: [EventID] = []
  /// Whether the difference is known.
  public private(set) var isOver = false
  private var absent: [UInt64]

  /// The most messages of one reconciliation. A million ids come in 534 messages of the standard size.
  public static let messageMaximum = 4_096

  /// A reconciliation that begins.
  public init(_ reconciler: Reconciler) {
    self.reconciler = reconciler
    absent = Array(repeating: 0, count: (reconciler.records.count + 63) / 64)
  }

  /// The other side has answered: what its answer reveals, and the next message.
  ///
  /// - Throws: why the answer cannot be read, or `endless` beyond ``messageMaximum``.
  public mutating func received(_ message: [UInt8]) throws(ReconcileFault) -> Reconciler.Step {
    precondition(!isOver, "nothing is asked after the end")
    guard messageCount < Self.messageMaximum else { throw .endless(messageCount: messageCount + 1) }
    let step = try reconciler.received(message)
    messageCount += 1
    newlyAbsent = []
    for index in step.haveIndices where absent[index / 64] & (1 << (index % 64)) == 0 {
      absent[index / 64] |= 1 << (index % 64)
      absentCount += 1
      newlyAbsent.append(reconciler.records.records[index].id)
    }
    isOver = step.next == nil
    return step
  }

  /// How many records both sides have, once the difference is known.
  public var commonCount: Int { reconciler.records.count - absentCount }

  /// Records that both sides have, from an index on, in order.
  ///
  /// - Parameters:
  ///   - start: the index of the first record that is looked at.
  ///   - count: the most ids that are returned.
  /// - Returns: the ids, and the index from which the next ones are taken; nil when there are no more.
  public func common(from start: Int, count: Int) -> (ids: [EventID], next: Int?) {
    precondition(isOver, "what is common is known at the end")
    let records = reconciler.records.records
    var ids: [EventID] = []
    for index in start..<records.count {
      guard absent[index / 64] & (1 << (index % 64)) == 0 else { continue }
      if ids.count == count { return (ids, index) }
      ids.append(records[index].id)
    }
    return (ids, nil)
  }
}
