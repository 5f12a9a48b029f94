public import Nostr

/// Where an observation under a name has got to: what outlives a connection, and both processes.
public struct ObserveMark: Hashable, Sendable {
  /// Who observes: a worker's name, or `client` for all that come over the socket.
  public let owner: String
  /// His name for it.
  public let id: String
  /// What he observes: with other filters, another policy or other relays he begins again.
  public let plan: FilterKey
  /// The last seq that he has dealt with.
  public let seq: Int64
  /// When he said so, seconds since 1970.
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

/// The marks of all named observations; the one not used for longest goes when there is one too many.
public struct ObserveMarks: Sendable {
  private struct Name: Hashable, Sendable {
    let owner: String
    let id: String
  }
  private var marks: [Name: ObserveMark] = [:]

  /// Most marks kept. A name whose mark is gone begins again.
  public static let maximum = 4_096

  /// Marks as they were written down.
  public init(_ marks: [ObserveMark] = []) {
    for mark in marks { self.marks[Name(owner: mark.owner, id: mark.id)] = mark }
  }

  /// How many there are.
  public var count: Int { marks.count }

  /// Whether this name was ever acknowledged.
  public func plan(owner: String, id: String) -> FilterKey? { marks[Name(owner: owner, id: id)]?.plan }

  /// The seq after which a named observation continues; nil when it begins again.
  public func resumeSeq(owner: String, id: String, plan: FilterKey) -> Int64? {
    marks[Name(owner: owner, id: id)].flatMap { $0.plan == plan ? $0.seq : nil }
  }

  /// All up to a seq is dealt with.
  ///
  /// - Returns: what is to be written down, and what is to be forgotten.
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
