// Beliefs as rows, so that a database can keep them: what is read back decides as before. A row that no belief can have
// (a negative or infinite number, an id out of range) is left out, so a damaged file costs what it held and no more.

extension DeliveryBeliefs {
  /// What is known of a relay and an author, of a relay's reach, or of an author's posting.
  public struct Row: Sendable, Hashable {
    /// What a row is about.
    public enum Subject: Int, Sendable, CaseIterable {
      /// Delivery of an author by a relay.
      case pair
      /// Delivery of a relay, over its authors.
      case relay
      /// Dials of a relay; ``Row/latencyMilliseconds`` is of these.
      case reach
      /// Events (successes) and observed weeks (failures) of an author.
      case posting
    }

    /// What the row is about.
    public var subject: Subject
    /// The relay; 0 for a posting.
    public var relay: Int32
    /// The author; 0 for a relay.
    public var author: Int32
    /// What counts for.
    public var successes: Double
    /// What counts against.
    public var failures: Double
    /// The minute for which both hold.
    public var minute: Int64
    /// A reach's average time until the first answer; 0: not measured.
    public var latencyMilliseconds: Double = 0

    /// A row.
    public init(
      _ subject: Subject, relay: Int32, author: Int32, successes: Double, failures: Double, minute: Int64,
      latencyMilliseconds: Double = 0
    ) {
      self.subject = subject
      self.relay = relay
      self.author = author
      self.successes = successes
      self.failures = failures
      self.minute = minute
      self.latencyMilliseconds = latencyMilliseconds
    }

    var isValid: Bool {
      DeliveryBeliefs.isUsable(relay) && DeliveryBeliefs.isUsable(author)
        && [successes, failures, latencyMilliseconds].allSatisfy { $0 >= 0 && $0 < 1e12 }
    }

    var evidence: Evidence { Evidence(successes: successes, failures: failures, minute: minute) }
  }

  /// All that is known, in an order that the same beliefs always have.
  public var rows: [Row] {
    func row(_ subject: Row.Subject, _ relay: Int32, _ author: Int32, _ known: Evidence, _ latency: Double = 0) -> Row {
      Row(
        subject, relay: relay, author: author, successes: known.successes, failures: known.failures,
        minute: known.minute, latencyMilliseconds: latency)
    }
    var rows = pairs.all.map { row(.pair, $0.relay, $0.author, $0.evidence) }
    for (relay, known) in deliveries.enumerated() where known.total > 0 {
      rows.append(row(.relay, Int32(relay), 0, known))
    }
    for (relay, known) in reaches.enumerated() where known.total > 0 {
      rows.append(row(.reach, Int32(relay), 0, known, relay < latencies.count ? latencies[relay] : 0))
    }
    for (author, known) in postings.enumerated() where known.total > 0 {
      rows.append(row(.posting, 0, Int32(author), known))
    }
    return rows
  }

  /// Beliefs from rows; of two rows about the same the later counts.
  public init(rows: some Sequence<Row>) {
    self.init()
    for row in rows where row.isValid {
      switch row.subject {
      case .pair: _ = pairs.update(row.relay, row.author) { $0 = row.evidence }
      case .relay:
        Self.grow(&deliveries, row.relay)
        deliveries[Int(row.relay)] = row.evidence
      case .reach:
        Self.grow(&reaches, row.relay)
        reaches[Int(row.relay)] = row.evidence
        while latencies.count <= Int(row.relay) { latencies.append(0) }
        latencies[Int(row.relay)] = row.latencyMilliseconds
      case .posting:
        Self.grow(&postings, row.author)
        postings[Int(row.author)] = row.evidence
      }
    }
  }
}
