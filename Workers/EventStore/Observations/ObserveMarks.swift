public import Nostr

/// How far a named observation has come: this survives the connection, and both processes.
public struct ObserveMark: Hashable, Sendable {
  /// The observer: a worker's name, or `client` for all clients of the socket.
  public let owner: String
  /// The observer's name for the observation.
  public let id: String
  /// What is observed: with other filters, another policy or other relays the observation starts again.
  public let plan: FilterKey
  /// The last seq that the observer has processed.
  public let seq: Int64
  /// When the observer acknowledged it, seconds since 1970.
  public let time: Int64

  /// A mark.
  public init(owner: String, id: String, plan: FilterKey, seq: Int64, time: Int64) {
    self.owner = owner
    self.id = id
    self.plan = plan
    self.seq = seq
    self.time = time
  }
}

/// The marks of all named observations. Beyond the maximum, the one acknowledged longest ago is dropped.
public struct ObserveMarks: Sendable {
  private struct Name: Hashable, Sendable {
    let owner: String
    let id: String
  }
  private var marks: [Name: ObserveMark] = [:]

  /// The most marks kept. An observation whose mark was dropped starts again.
  public static let maximum = 4_096

  /// The marks that were stored.
  public init(_ marks: [ObserveMark] = []) {
    for mark in marks { self.marks[Name(owner: mark.owner, id: mark.id)] = mark }
  }

  /// The number of marks.
  public var count: Int { marks.count }

  /// What was observed at the last acknowledgement of a name; nil if there is no mark of it.
  public func plan(owner: String, id: String) -> FilterKey? { marks[Name(owner: owner, id: id)]?.plan }

  /// The seq after which a named observation continues; nil when it starts again.
  public func resumeSeq(owner: String, id: String, plan: FilterKey) -> Int64? {
    marks[Name(owner: owner, id: id)].flatMap { $0.plan == plan ? $0.seq : nil }
  }

  /// The observer has processed everything up to a seq.
  ///
  /// - Returns: the mark to store, and the mark to delete.
  public mutating func acknowledge(
    owner: String, id: String, plan: FilterKey, seq: Int64, now: Int64
  ) -> (mark: ObserveMark, forgotten: ObserveMark?) {
    let name = Name(owner: owner, id: id)
    let before = resumeSeq(owner: owner, id: id, plan: plan) ?? 0
    let mark = ObserveMark(owner: owner, id: id, plan: plan, seq: max(before, seq), time: now)
    var forgotten: ObserveMark?
    if marks[name] == nil, marks.count >= Self.maximum {
      forgotten = marks.values.min { ($0.time, $0.owner, $0.id) < ($1.time, $1.owner, $1.id) }
      if let forgotten { marks[Name(owner: forgotten.owner, id: forgotten.id)] = nil }
    }
    marks[name] = mark
    return (mark, forgotten)
  }
}
