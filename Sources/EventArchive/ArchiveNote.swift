internal import Cryptography
public import Nostr
public import Observing
internal import Storage

// What is written besides events: when filters were fetched, and where named observations have got to. Notes take the way of
// events, through the same lane and into the same transactions, so that none says more than what is committed.

/// Something to be written down that is no event.
public enum ArchiveNote: Hashable, Sendable {
  /// A relay was asked these filters and has sent what it had; `nil` for all the relays that are planned.
  case fetched(FilterKey, relay: Int64?, at: Int64)
  /// A named observation has got so far.
  case marked(ObserveMark)
  /// A named observation is forgotten.
  case unmarked(owner: String, id: String)
}

extension ArchiveWriter {
  /// Most fetch times kept; beyond it the oldest go.
  static let fetchMaximum: Int64 = 100_000
  /// Most of them removed in one transaction.
  static let trimMaximum: Int64 = 1_000

  func write(_ note: ArchiveNote) throws {
    switch note {
    case .fetched(let key, let relay, let time): try fetched(key, relay: relay ?? 0, at: time)
    case .marked(let mark):
      let statement = try session.statement(
        "INSERT OR REPLACE INTO mark (owner, id, plan, seq, time) VALUES (?, ?, ?, ?, ?)")
      statement.bind(mark.owner, at: 1)
      statement.bind(mark.id, at: 2)
      statement.bind(mark.plan.digest.bytes, at: 3)
      statement.bind(mark.seq, at: 4)
      statement.bind(mark.time, at: 5)
      try statement.run()
    case .unmarked(let owner, let id):
      let statement = try session.statement("DELETE FROM mark WHERE owner = ? AND id = ?")
      statement.bind(owner, at: 1)
      statement.bind(id, at: 2)
      try statement.run()
    }
  }

  private func fetched(_ key: FilterKey, relay: Int64, at time: Int64) throws {
    let statement = try session.statement(
      """
      INSERT INTO fetch (filter, relay, time) VALUES (?, ?, ?)
      ON CONFLICT (filter, relay) DO UPDATE SET time = max(time, excluded.time)
      """)
    statement.bind(key.digest.bytes, at: 1)
    statement.bind(relay, at: 2)
    statement.bind(time, at: 3)
    try statement.run()
  }

  /// Keeps the tables of notes to their bounds, a slice at a time.
  func trimNotes() throws {
    let statement = try session.statement(
      """
      DELETE FROM fetch WHERE (filter, relay) IN (
        SELECT filter, relay FROM fetch ORDER BY time
        LIMIT min(?2, max(0, (SELECT count(*) FROM fetch) - ?1)))
      """)
    statement.bind(Self.fetchMaximum, at: 1)
    statement.bind(Self.trimMaximum, at: 2)
    try statement.run()
  }
}
