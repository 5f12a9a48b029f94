import Clocks
import Contracts
import Cryptography
import Nostr
import PublishQueue
import Testing

/// A queue on a bench: two clocks in the test's hand, a shell that takes notes, a ledger of values, and the checks that
/// hold after every step.
final class Bench {
  var queue: PublishQueue
  var now = Instant(nanoseconds: 1_000_000_000)
  /// The wall clock's offset from the monotonic one, in seconds.
  var offset: Int64 = 1_700_000_000
  /// What is written down.
  private(set) var ledger: [EventID: QueuedPublication] = [:]
  /// Changes that are not written down yet.
  private(set) var unwritten: Set<EventID> = []
  private(set) var inFlight: [SendingKey: SendingManner] = [:]
  /// Every sending, in order.
  private(set) var sendings: [(key: SendingKey, at: Instant)] = []
  private(set) var timer: Instant?
  private var nextNumber: Int64 = 1
  let limits: PublishLimits
  private let author = SecretKey.generate().publicKey

  init(limits: PublishLimits = PublishLimits(), seed: UInt64 = 1) {
    self.limits = limits
    queue = PublishQueue(limits: limits, seed: seed)
  }

  var moment: Moment { Moment(instant: now, time: offset + Int64(now.nanoseconds / 1_000_000_000)) }

  func apply(_ step: (inout PublishQueue, Moment) -> [PublishAction]) {
    for action in step(&queue, moment) {
      switch action {
      case .send(let key, let manner):
        #expect(inFlight[key] == nil, "never twice at a time")
        #expect(taken[key] == nil, "never again after an OK")
        inFlight[key] = manner
        sendings.append((key, now))
      case .record(let id): unwritten.insert(id)
      case .tell: break
      case .setTimer(let due): timer = due
      case .cancelTimer: timer = nil
      }
    }
    #expect(inFlight.count <= limits.inFlightMaximum && queue.inFlightCount == inFlight.count)
    let byRelay = Dictionary(grouping: inFlight.keys, by: \.relay)
    #expect(byRelay.values.allSatisfy { $0.count <= limits.relayInFlightMaximum })
  }

  /// Relays whose OK has come to this process, or is written down.
  private(set) var taken: [SendingKey: Bool] = [:]

  func settle(_ key: SendingKey, _ outcome: SendOutcome) {
    inFlight[key] = nil
    if case .taken = outcome { taken[key] = true }
    apply { $0.settled(key, outcome, at: $1) }
  }

  // MARK: Publishing

  static func id(_ number: Int64) -> EventID { EventID(SHA256.hash(Array("event \(number)".utf8))) }

  @discardableResult
  func publish(_ relays: String..., lifetime: Int64 = 72 * 3_600, isForeign: Bool = false) -> EventID {
    publish(relays, lifetime: lifetime, isForeign: isForeign)
  }

  @discardableResult
  func publish(
    _ relays: [String], account: PublicKey? = nil, lifetime: Int64 = 72 * 3_600, isForeign: Bool = false
  ) -> EventID {
    let id = Self.id(nextNumber)
    let time = moment.time
    let publication = QueuedPublication(
      number: nextNumber, id: id, author: author, kind: 1, acceptedAt: time, expiresAt: time + lifetime,
      targets: relays.map { relay in
        QueuedTarget(
          PublicationTarget(relay: relay, state: .pending, why: "named"),
          manner: SendingManner(account: account, isForeign: isForeign))
      })
    nextNumber += 1
    ledger[id] = publication
    apply { $0.admitted(publication, at: $1) }
    return id
  }

  /// Writes down what has changed, or some of it.
  func write(_ isWritten: (EventID) -> Bool = { _ in true }) {
    for id in unwritten where isWritten(id) {
      unwritten.remove(id)
      guard let publication = queue[id], let version = queue.version(of: id) else { continue }
      ledger[id] = publication
      queue.recorded(id, version: version)
    }
  }

  /// The process dies and another one begins with what is written down.
  func restart(seed: UInt64 = 2) {
    queue = PublishQueue(limits: limits, seed: seed)
    (inFlight, unwritten, timer) = ([:], [], nil)
    taken = [:]
    for publication in ledger.values {
      for target in publication.targets where target.progress.state == .confirmed {
        taken[SendingKey(id: publication.id, relay: target.relay)] = true
      }
    }
    for publication in ledger.values.sorted(by: { $0.number < $1.number }) where !publication.state.isFinal {
      apply { $0.admitted(publication, at: $1) }
    }
  }

  // MARK: Time

  func advance(milliseconds: UInt64) {
    let end = now.advanced(milliseconds: milliseconds)
    while let due = timer, due <= end {
      now = max(now, due)
      timer = nil
      apply { $0.timerFired(at: $1) }
      #expect(timer.map { $0 > now } ?? true, "a timer that is due at once would spin")
    }
    now = end
  }

  // MARK: Looking

  func told(_ id: EventID) -> Publication? { queue.publication(id, at: moment) ?? ledger[id]?.publication }

  func target(_ id: EventID, _ relay: String) -> PublicationTarget? { told(id)?.targets.first { $0.relay == relay } }

  /// The events sent to a relay, in order.
  func order(at relay: String) -> [EventID] { sendings.filter { $0.key.relay == relay }.map(\.key.id) }
}
