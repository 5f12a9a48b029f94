internal import Contracts
internal import DequeModule
internal import FairSharing

// Events on their way from relays to the store, as runs of records.
//
//     relay a   ▒▒▒▒▒▒▒▒ pieces ──┐
//     relay b   ▒                 ├──► run, when fewer than the maximum are in flight ──► store
//     relay c   ▒▒▒               ┘    (the relay with the least service comes first)
//
// The events of each relay wait in a queue of their own. A run is made when one more may be in flight. It takes from
// the queues in turn, first from the relay with the least service so far (`ServiceClock`). So an event of a quiet relay
// is sent at once or with the next run, however much of a flooding relay waits; and a flood is sent in large runs,
// without a timer.
//
// A relay whose own queue is too long must not be read (`mustWait`). The others are read, so their OKs, ends and pongs
// arrive. Rejected: to hold back all relays while much waits, and to let them continue in some order. The first to
// continue would fill the space that became free, and the relays behind it would never be read.
//
// Answers come in any order, because the store may take later runs while a refused run is sent again. So an end (EOSE)
// is sent only when no other run with events of its subscription is unanswered and none of these events wait. The end
// is then behind them in their own run, or in a run after their answers, and cannot be committed before them.

/// Collects records into runs: the records of one relay in the order they came, the relays in turn.
public struct IngestRuns: Sendable {
  /// How much may wait and be in flight.
  public struct Limits: Sendable, Hashable {
    /// Once a run has this many bytes it takes no more; one event may exceed it.
    public var runByteCountMaximum = 128 << 10
    /// Most records of a run.
    public var recordMaximum = 2_048
    /// Most runs that are sent and not answered.
    public var inFlightMaximum = 4
    /// Bytes of events that wait to be sent, of all relays together. It is shared equally by the relays that have
    /// something waiting; a relay with more than its share must not be read.
    public var waitingByteCountMaximum = 512 << 10
    /// Bytes that a relay may always have waiting, however many relays share; one event may exceed it.
    public var shareByteCountMinimum = 16 << 10
    /// Bytes of one relay in a run before the next relay's turn; one event may exceed it.
    public var pieceByteCountMaximum = 8 << 10
    /// Bytes of filters that are repeated with an end. With more, the end is committed in its turn, but the store does
    /// not receive it.
    public var filterByteCountMaximum = 64 << 10
    /// The most bytes of a run that fits a frame.
    public var frameByteCountMaximum: Int

    /// The limits above, for frames of this size.
    public init(frameByteCountMaximum: Int) {
      self.frameByteCountMaximum = frameByteCountMaximum
      runByteCountMaximum = min(runByteCountMaximum, frameByteCountMaximum)
    }
  }

  /// An end of stored events, to be committed.
  public struct End: Hashable, Sendable {
    /// The relay's URL.
    public let relay: String
    /// The subscription's number.
    public let subscription: UInt32
    /// The caller's name for it.
    public let name: UInt64
    let statement: Statement
    let filters: [[UInt8]]
    let receivedNanoseconds: UInt64
  }

  /// What an end says.
  public enum Statement: Hashable, Sendable {
    /// The relay has sent all that it had for the filters.
    case stored
    /// A page has ended that covers these times; nil: none.
    case page(ClosedRange<Int64>?)
    /// The last page of a part has ended.
    case part(ClosedRange<Int64>?)

    fileprivate var kind: IngestRecord.Kind {
      switch self {
      case .stored: .storedEnd
      case .page: .pageEnd
      case .part: .partEnd
      }
    }

    fileprivate var bytes: [UInt8] {
      switch self {
      case .stored: []
      case .page(let times), .part(let times): times.map(IngestRecord.bytes) ?? []
      }
    }
  }

  /// A complete run.
  public struct Run: Sendable {
    /// Its number, from 1.
    public let number: UInt64
    /// Its records, encoded.
    public internal(set) var bytes: [UInt8] = []
    /// The number of events among them.
    public internal(set) var eventCount = 0
    var recordCount = 0
    var ends: [End] = []
    var relays: Set<UInt32> = []
    var namedFilters: Set<UInt32> = []
    /// The subscriptions of its events.
    var subscriptions: Set<UInt32> = []

    init(number: UInt64) { self.number = number }
    var isEmpty: Bool { recordCount == 0 && ends.isEmpty }
  }

  /// Events of one relay that go into one run together, as records.
  private struct Piece {
    var bytes: [UInt8] = []
    var eventCount = 0
    /// The number of events of each subscription.
    var subscriptions: [UInt32: Int] = [:]
  }

  /// One relay: what waits of it, and its number in runs.
  private struct Line {
    let number: UInt32
    let relay: String
    var pieces: Deque<Piece> = []
    var byteCount = 0
  }

  private let limits: Limits
  private var lines: [UInt32: Line] = [:]
  private var numbers: [String: UInt32] = [:]
  private var lastNumber: UInt32 = 0
  private var clock = ServiceClock()
  /// The number of the relay, for each piece that waits.
  private var queue = FairOrder<UInt32>()
  /// The number of relays that have something waiting.
  private var sharerCount = 0
  /// Relays that have nothing waiting, and are kept until they have had no more service than others.
  private var rested: Set<UInt32> = []
  /// A piece whose turn has come, but that did not fit the run.
  private var carried: (piece: Piece, number: UInt32)?
  private var lastRun: UInt64 = 0
  private var inFlight: [UInt64: (ends: [End], subscriptions: Set<UInt32>)] = [:]
  /// The number of waiting events of each subscription.
  private var waiting: [UInt32: Int] = [:]
  /// The number of unanswered runs with events of each subscription.
  private var unanswered: [UInt32: Int] = [:]
  private var heldEnds: [End] = []
  /// Subscriptions of dropped runs.
  private var incomplete: Set<UInt32> = []

  /// What an event costs the store in addition to its bytes, expressed in bytes: it checks a signature and writes rows.
  private static let eventCost = 512

  /// Nothing waits and nothing is in flight.
  public init(limits: Limits) { self.limits = limits }

  /// Whether so much of a relay's data waits that the relay must not be read until a run is answered.
  public func mustWait(_ relay: String) -> Bool {
    guard let line = numbers[relay].flatMap({ lines[$0] }) else { return false }
    return line.byteCount > max(limits.waitingByteCountMaximum / max(1, sharerCount), limits.shareByteCountMinimum)
  }

  /// Whether nothing waits and nothing is in flight.
  public var isEmpty: Bool { sharerCount == 0 && inFlight.isEmpty && heldEnds.isEmpty }

  /// Adds an event.
  ///
  /// - Parameters:
  ///   - event: its bytes, as received.
  ///   - relay: the URL of the relay that sent it.
  ///   - subscription: the number of the subscription it came for.
  ///   - receivedNanoseconds: since 1970.
  /// - Returns: false when the event is too large for any run; it is then left out.
  public mutating func append(
    _ event: UnsafeRawBufferPointer, relay: String, subscription: UInt32, receivedNanoseconds: UInt64
  ) -> Bool {
    let byteCount = event.count + IngestRecord.headerByteCount
    guard byteCount + nameByteCount(relay) <= limits.frameByteCountMaximum else { return false }
    let number = number(of: relay)
    guard var line = lines.removeValue(forKey: number) else { preconditionFailure("a number is that of a line") }
    var piece = line.pieces.popLast() ?? Piece()
    if !mayGrow(piece, by: byteCount, of: relay) {
      line.pieces.append(piece)
      piece = Piece()
    }
    if piece.bytes.isEmpty { queue.append(number, of: UInt64(number), by: clock) }
    IngestRecord.append(
      .event, relay: number, subscription: subscription, receivedNanoseconds: receivedNanoseconds, event,
      to: &piece.bytes)
    piece.eventCount += 1
    piece.subscriptions[subscription, default: 0] += 1
    line.pieces.append(piece)
    if line.byteCount == 0 {
      sharerCount += 1
      rested.remove(number)
    }
    line.byteCount += byteCount
    lines[number] = line
    waiting[subscription, default: 0] += 1
    return true
  }

  /// Adds an end of stored events, after the events of its subscription.
  ///
  /// - Parameters:
  ///   - relay: the relay's URL.
  ///   - subscription: its number.
  ///   - filters: each filter of the subscription, as JSON.
  ///   - statement: what the end says.
  ///   - name: the name that ``answered(_:)`` returns when the end is committed.
  ///   - receivedNanoseconds: since 1970.
  public mutating func end(
    relay: String, subscription: UInt32, filters: [[UInt8]], saying statement: Statement = .stored, name: UInt64,
    receivedNanoseconds: UInt64
  ) {
    guard !incomplete.contains(subscription) else { return }
    heldEnds.append(
      End(
        relay: relay, subscription: subscription, name: name, statement: statement, filters: filters,
        receivedNanoseconds: receivedNanoseconds))
  }

  /// The next run to send; nil when nothing waits or the maximum of runs is in flight.
  public mutating func next() -> Run? {
    guard inFlight.count < limits.inFlightMaximum else { return nil }
    var run = Run(number: lastRun + 1)
    // Ends whose events are committed go first: a flood must not delay them.
    placeEnds(in: &run, byteCountMaximum: limits.runByteCountMaximum)
    fill(&run)
    placeEnds(in: &run, byteCountMaximum: limits.frameByteCountMaximum)
    forgetRested()
    guard !run.isEmpty else { return nil }
    lastRun = run.number
    for subscription in run.subscriptions { unanswered[subscription, default: 0] += 1 }
    inFlight[run.number] = (run.ends, run.subscriptions)
    return run
  }

  /// The store has committed a run.
  ///
  /// - Returns: the names of the ends that were in it.
  public mutating func answered(_ run: UInt64) -> [UInt64] {
    guard let answered = inFlight.removeValue(forKey: run) else { return [] }
    for subscription in answered.subscriptions {
      let rest = (unanswered[subscription] ?? 0) - 1
      unanswered[subscription] = rest > 0 ? rest : nil
    }
    return answered.ends.map(\.name)
  }

  /// A run is given up: its events do not reach the store. No end of its subscriptions is sent from now on, because the
  /// store would read it as proof that it has all events before it.
  ///
  /// - Returns: the names of the ends that will not be committed: those in the run, and the waiting ones of its
  ///   subscriptions. An end that comes later is not kept.
  public mutating func dropped(_ run: UInt64) -> [UInt64] {
    incomplete.formUnion(inFlight[run]?.subscriptions ?? [])
    let lost = heldEnds.filter { incomplete.contains($0.subscription) }.map(\.name)
    heldEnds.removeAll { incomplete.contains($0.subscription) }
    return answered(run) + lost
  }

  /// Whether a piece may take an event of so many bytes; an empty piece always may.
  private func mayGrow(_ piece: Piece, by byteCount: Int, of relay: String) -> Bool {
    let maximum = min(limits.pieceByteCountMaximum, limits.runByteCountMaximum - nameByteCount(relay))
    return piece.eventCount == 0
      || (piece.bytes.count + byteCount <= maximum && piece.eventCount + 2 <= limits.recordMaximum)
  }

  // MARK: Relays

  private func nameByteCount(_ relay: String) -> Int { relay.utf8.count + IngestRecord.headerByteCount }

  /// The relay's number. A relay keeps it while it has something waiting, or has had more service than others.
  private mutating func number(of relay: String) -> UInt32 {
    if let number = numbers[relay] { return number }
    repeat { lastNumber = lastNumber == .max ? 1 : lastNumber + 1 } while lines[lastNumber] != nil
    numbers[relay] = lastNumber
    lines[lastNumber] = Line(number: lastNumber, relay: relay)
    rested.insert(lastNumber)
    return lastNumber
  }

  /// Forgets relays of which nothing waits and whose next piece would not be delayed by the service they had.
  private mutating func forgetRested() {
    for number in rested where clock.due(UInt64(number)) == clock.time {
      rested.remove(number)
      clock.forget(UInt64(number))
      if let line = lines.removeValue(forKey: number) { numbers[line.relay] = nil }
    }
  }

  // MARK: Runs

  /// Takes pieces of the relays in turn, until the run is full.
  private mutating func fill(_ run: inout Run) {
    while let (piece, number) = nextPiece() {
      guard let line = lines[number] else { preconditionFailure("what waits is a relay's") }
      let naming = run.relays.contains(number) ? 0 : nameByteCount(line.relay)
      let hasRoom =
        run.bytes.count + naming + piece.bytes.count <= limits.runByteCountMaximum
        && run.recordCount + piece.eventCount + 1 <= limits.recordMaximum
      guard run.isEmpty || hasRoom else {
        carried = (piece, number)
        return
      }
      name(number, line.relay, in: &run)
      run.bytes += piece.bytes
      run.recordCount += piece.eventCount
      run.eventCount += piece.eventCount
      for (subscription, count) in piece.subscriptions {
        run.subscriptions.insert(subscription)
        let rest = (waiting[subscription] ?? 0) - count
        waiting[subscription] = rest > 0 ? rest : nil
      }
      left(number, piece.bytes.count)
    }
  }

  private mutating func nextPiece() -> (Piece, UInt32)? {
    if let carried {
      self.carried = nil
      return carried
    }
    guard let (number, due) = queue.popFirst(by: clock), let piece = lines[number]?.pieces.popFirst() else {
      return nil
    }
    clock.begin(UInt64(number), due: due, cost: piece.bytes.count + piece.eventCount * Self.eventCost)
    return (piece, number)
  }

  /// A relay has so many bytes fewer waiting.
  private mutating func left(_ number: UInt32, _ byteCount: Int) {
    lines[number]?.byteCount -= byteCount
    guard lines[number]?.byteCount == 0 else { return }
    sharerCount -= 1
    rested.insert(number)
  }

  // MARK: Ends

  /// Puts those ends into a run that may be sent now, in their order, while there is room.
  private mutating func placeEnds(in run: inout Run, byteCountMaximum: Int) {
    guard !heldEnds.isEmpty else { return }
    var held: [End] = []
    for end in heldEnds where !place(end, in: &run, byteCountMaximum) { held.append(end) }
    heldEnds = held
  }

  private mutating func place(_ end: End, in run: inout Run, _ byteCountMaximum: Int) -> Bool {
    guard waiting[end.subscription] == nil, unanswered[end.subscription] == nil else { return false }
    let filterByteCount = end.filters.reduce(0) { $0 + $1.count + IngestRecord.headerByteCount }
    let byteCount = filterByteCount + nameByteCount(end.relay) + IngestRecord.headerByteCount
    let isSaid = filterByteCount <= limits.filterByteCountMaximum && byteCount <= limits.frameByteCountMaximum
    guard isSaid else {
      run.ends.append(end)
      return true
    }
    let hasRoom =
      run.bytes.count + byteCount <= byteCountMaximum
      && run.recordCount + end.filters.count + 2 <= IngestRecord.countMaximum
    guard run.bytes.isEmpty || hasRoom else { return false }
    say(end, in: &run)
    run.ends.append(end)
    return true
  }

  private mutating func say(_ end: End, in run: inout Run) {
    let number = number(of: end.relay)
    name(number, end.relay, in: &run)
    if run.namedFilters.insert(end.subscription).inserted {
      for filter in end.filters {
        IngestRecord.append(
          .subscriptionFilter, relay: number, subscription: end.subscription,
          receivedNanoseconds: end.receivedNanoseconds, filter, to: &run.bytes)
      }
      run.recordCount += end.filters.count
    }
    IngestRecord.append(
      end.statement.kind, relay: number, subscription: end.subscription, receivedNanoseconds: end.receivedNanoseconds,
      end.statement.bytes, to: &run.bytes)
    run.recordCount += 1
  }

  /// Writes into a run which relay a number means, once for each run.
  private func name(_ number: UInt32, _ relay: String, in run: inout Run) {
    guard run.relays.insert(number).inserted else { return }
    IngestRecord.append(.relayName, relay: number, receivedNanoseconds: 0, relay.utf8, to: &run.bytes)
    run.recordCount += 1
  }
}
