internal import Contracts

// Events on their way from relays to the store, as runs of records.
//
// A run is open as long as all places on the way are taken; so a quiet relay's event goes at once, and a flood goes in
// large runs, without a timer. Answers come in any order, since a run that was refused goes again while later ones are
// taken. So an end (EOSE) is said only when no other run with events of its subscription is unanswered: it stands
// behind them in their own run, or in a run after their answers, and cannot be committed before them.

/// Collects records into runs, in the order they came.
public struct IngestRuns: Sendable {
  /// How much may be on the way.
  public struct Limits: Sendable, Hashable {
    /// Bytes from which on a run is closed; one event may go beyond.
    public var runByteCountMaximum = 128 << 10
    /// Records of a run.
    public var recordMaximum = 2_048
    /// Runs sent and not answered.
    public var inFlightMaximum = 4
    /// Bytes of runs that wait to be sent above which relays are not to be read.
    public var waitingByteCountMaximum = 512 << 10
    /// Bytes of filters that are repeated with an end; above, it is committed in its turn, and the store learns nothing
    /// of it.
    public var filterByteCountMaximum = 64 << 10
    /// Bytes of a run that fits a frame.
    public var frameByteCountMaximum: Int

    /// The limits above, for frames of this size.
    public init(frameByteCountMaximum: Int) {
      self.frameByteCountMaximum = frameByteCountMaximum
      runByteCountMaximum = min(runByteCountMaximum, frameByteCountMaximum)
    }
  }

  /// An end of stored events that is to be committed.
  public struct End: Hashable, Sendable {
    /// The relay's URL.
    public let relay: String
    /// The subscription's number.
    public let subscription: UInt32
    /// The caller's name for it.
    public let name: UInt64
    let filters: [[UInt8]]
    let receivedNanoseconds: UInt64
  }

  /// A run, closed.
  public struct Run: Sendable {
    /// Its number, from 1.
    public let number: UInt64
    /// Its records.
    public internal(set) var bytes: [UInt8] = []
    /// How many events are among them.
    public internal(set) var eventCount = 0
    var recordCount = 0
    var ends: [End] = []
    var relays: [String: UInt32] = [:]
    var namedFilters: Set<UInt32> = []
    /// Subscriptions of its events.
    var subscriptions: Set<UInt32> = []

    init(number: UInt64) { self.number = number }
    var isEmpty: Bool { recordCount == 0 && ends.isEmpty }
  }

  private let limits: Limits
  private var open: Run
  private var waiting: [Run] = []
  private var waitingByteCount = 0
  private var inFlight: [UInt64: (ends: [End], subscriptions: Set<UInt32>)] = [:]
  /// How many runs with events of a subscription are not answered, the open one among them.
  private var unanswered: [UInt32: Int] = [:]
  private var heldEnds: [End] = []

  /// Nothing on the way.
  public init(limits: Limits) {
    self.limits = limits
    open = Run(number: 1)
  }

  /// Whether so much waits that relays are not to be read until a run is answered.
  public var isFull: Bool { waitingByteCount > limits.waitingByteCountMaximum }
  /// Whether nothing is on the way.
  public var isEmpty: Bool { open.isEmpty && waiting.isEmpty && inFlight.isEmpty && heldEnds.isEmpty }

  /// Adds an event.
  ///
  /// - Parameters:
  ///   - event: its bytes as they came.
  ///   - relay: the URL of the relay that sent it.
  ///   - subscription: the number of the subscription it came for.
  ///   - receivedNanoseconds: since 1970.
  /// - Returns: false when it is too large for any run, and left out.
  public mutating func append(
    _ event: UnsafeRawBufferPointer, relay: String, subscription: UInt32, receivedNanoseconds: UInt64
  ) -> Bool {
    let byteCount = event.count + relay.utf8.count + 2 * IngestRecord.headerByteCount
    guard byteCount <= limits.frameByteCountMaximum else { return false }
    makeRoom(byteCount)
    let number = number(of: relay, receivedNanoseconds)
    IngestRecord.append(
      .event, relay: number, subscription: subscription, receivedNanoseconds: receivedNanoseconds, event,
      to: &open.bytes)
    open.recordCount += 1
    open.eventCount += 1
    if open.subscriptions.insert(subscription).inserted { unanswered[subscription, default: 0] += 1 }
    return true
  }

  /// Adds an end of stored events, behind the events of its subscription.
  ///
  /// - Parameters:
  ///   - relay: the relay's URL.
  ///   - subscription: its number.
  ///   - filters: each filter of the subscription, as JSON.
  ///   - name: what ``answered(_:)`` returns when it is committed.
  ///   - receivedNanoseconds: since 1970.
  public mutating func end(
    relay: String, subscription: UInt32, filters: [[UInt8]], name: UInt64, receivedNanoseconds: UInt64
  ) {
    let end = End(
      relay: relay, subscription: subscription, name: name, filters: filters, receivedNanoseconds: receivedNanoseconds)
    place(end)
  }

  /// The next run to send; nil when there is none, or as many as may be are on the way.
  public mutating func next() -> Run? {
    guard inFlight.count < limits.inFlightMaximum else { return nil }
    if waiting.isEmpty {
      guard !open.isEmpty else { return nil }
      close()
    }
    let run = waiting.removeFirst()
    waitingByteCount -= run.bytes.count
    inFlight[run.number] = (run.ends, run.subscriptions)
    return run
  }

  /// The store has committed a run.
  ///
  /// - Returns: names of the ends that were in it.
  public mutating func answered(_ run: UInt64) -> [UInt64] {
    guard let answered = inFlight.removeValue(forKey: run) else { return [] }
    for subscription in answered.subscriptions {
      let rest = (unanswered[subscription] ?? 0) - 1
      unanswered[subscription] = rest > 0 ? rest : nil
    }
    let held = heldEnds
    heldEnds = []
    for end in held { place(end) }
    return answered.ends.map(\.name)
  }

  /// Puts an end where it may be said, or keeps it until then.
  private mutating func place(_ end: End) {
    let filterByteCount = end.filters.reduce(0) { $0 + $1.count + IngestRecord.headerByteCount }
    let byteCount = filterByteCount + end.relay.utf8.count + 2 * IngestRecord.headerByteCount
    let isSaid = filterByteCount <= limits.filterByteCountMaximum && byteCount <= limits.frameByteCountMaximum
    let isBehindEvents = open.subscriptions.contains(end.subscription)
    // Behind its events the run's own bounds do not count, but the frame's and the reader's do.
    let isHeld =
      (unanswered[end.subscription] ?? 0) > (isBehindEvents ? 1 : 0)
      || (isSaid && isBehindEvents && !hasRoom(byteCount, recordCount: end.filters.count + 2))
    guard !isHeld else {
      heldEnds.append(end)
      return
    }
    if isSaid, !isBehindEvents { makeRoom(byteCount) }
    if isSaid { say(end) }
    open.ends.append(end)
  }

  private func hasRoom(_ byteCount: Int, recordCount: Int) -> Bool {
    open.bytes.count + byteCount <= limits.frameByteCountMaximum
      && open.recordCount + recordCount <= IngestRecord.countMaximum
  }

  private mutating func say(_ end: End) {
    let number = number(of: end.relay, end.receivedNanoseconds)
    if open.namedFilters.insert(end.subscription).inserted {
      for filter in end.filters {
        IngestRecord.append(
          .subscriptionFilter, relay: number, subscription: end.subscription,
          receivedNanoseconds: end.receivedNanoseconds, filter, to: &open.bytes)
      }
      open.recordCount += end.filters.count
    }
    IngestRecord.append(
      .storedEnd, relay: number, subscription: end.subscription, receivedNanoseconds: end.receivedNanoseconds,
      EmptyCollection<UInt8>(), to: &open.bytes)
    open.recordCount += 1
  }

  /// Closes the open run if a record of so many bytes would be too much for it.
  private mutating func makeRoom(_ byteCount: Int) {
    guard !open.isEmpty else { return }
    if open.bytes.count + byteCount > limits.runByteCountMaximum || open.recordCount >= limits.recordMaximum { close() }
  }

  private mutating func close() {
    waitingByteCount += open.bytes.count
    waiting.append(open)
    open = Run(number: open.number + 1)
  }

  /// The relay's number in the open run, which says its name.
  private mutating func number(of relay: String, _ receivedNanoseconds: UInt64) -> UInt32 {
    if let number = open.relays[relay] { return number }
    let number = UInt32(open.relays.count + 1)
    open.relays[relay] = number
    IngestRecord.append(
      .relayName, relay: number, receivedNanoseconds: receivedNanoseconds, relay.utf8, to: &open.bytes)
    open.recordCount += 1
    return number
  }
}
