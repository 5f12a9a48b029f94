import Addresses
import Bus
import Contracts
import EventArchive
import EventGate
import EventLoop
import Frames
import Nostr
import Observations

/// A run of records: its events and notes for the gate, and what the report on them needs.
@EventLoopActor
struct Run {
  /// The run's ends, to be published when it is committed.
  private(set) var ends: [(filter: Filter, added: CoverageAdded)] = []
  private(set) var events: [IncomingEvent] = []
  private var names: [UInt32: (url: String, number: Int64?)] = [:]
  private var relayOfRecord: [Int: UInt32] = [:]
  private var filters: [Subscription: [Filter]] = [:]

  private struct Subscription: Hashable {
    let relay: UInt32
    let number: UInt32
  }

  /// - Throws: `bad-payload` when the run cannot be read, or does not say which relay a number means; nothing of it is
  ///   taken.
  init(_ payload: BusPayload, _ relays: RelayNumbers, now: Int64) throws(Refusal) {
    guard payload.isRaw else { throw Refusal(.badPayload, "a run of records is RAW, not JSON", outcome: .notStarted) }
    let records: [IngestRecord]
    do throws(IngestRecord.Problem) { records = try IngestRecord.read(payload.bytes) } catch {
      throw Refusal(.badPayload, error.description, outcome: .notStarted)
    }
    events.reserveCapacity(records.count)
    for (index, record) in records.enumerated() {
      switch record.kind {
      case .relayName: try name(record, payload.bytes, relays)
      case .event: events.append(try event(index, record))
      case .subscriptionFilter: try addFilter(index, record, payload.bytes)
      case .storedEnd, .pageEnd, .partEnd: try end(index, record, payload.bytes, now: now)
      }
    }
  }

  private mutating func addFilter(_ index: Int, _ record: IngestRecord, _ bytes: [UInt8]) throws(Refusal) {
    do throws(FilterFault) {
      let filter = try Filter(json: Array(bytes[record.bytes]))
      filters[Subscription(relay: record.relay, number: record.subscription), default: []].append(filter)
    } catch {
      throw Refusal(.badPayload, "record \(index) is no filter: \(error)", outcome: .notStarted)
    }
  }

  /// Adds the notes of an end. The end of a subscription whose filters the run does not have, or of a relay without a
  /// number, says nothing.
  private mutating func end(_ index: Int, _ record: IngestRecord, _ bytes: [UInt8], now: Int64) throws(Refusal) {
    let times: ClosedRange<Int64>?
    do throws(IngestRecord.Problem) { times = try record.times(in: bytes) } catch {
      throw Refusal(.badPayload, error.description, outcome: .notStarted)
    }
    guard let name = names[record.relay], let number = name.number else { return }
    // A moment in the future comes from a wrong clock.
    let at = min(Int64(clamping: record.receivedNanoseconds / 1_000_000_000), now)
    let subscription = Subscription(relay: record.relay, number: record.subscription)
    for filter in filters[subscription] ?? [] {
      let key = FilterKey([filter])
      let whole = filter.subject.isCoverageSubject ? nil : filter.subject
      if record.kind == .storedEnd {
        events.append(IncomingEvent(record: index, .fetched(key, relay: number, at: at)))
      }
      // No more than the filter asked for.
      let interval = times.flatMap { times in
        CoverageIntervals.Interval(
          since: max(times.lowerBound, filter.since ?? .min), until: min(times.upperBound, filter.until ?? .max),
          checkedAt: at)
      }
      if record.kind == .partEnd {
        let subjects = filter.coverageSubjects.map { FilterKey([$0]) }
        events.append(
          IncomingEvent(
            record: index,
            .coveredParts(FilterKey([filter.subject]), subjects, relay: number, interval, whole: whole)))
      } else if let interval {
        events.append(
          IncomingEvent(
            record: index, .covered(FilterKey([filter.subject]), relay: number, interval, whole: whole)))
      }
      let added = CoverageAdded(
        relay: name.url, filter: nil, key: "\(key)", isStoredEnd: record.kind == .storedEnd, since: interval?.since,
        until: interval?.until, at: at)
      ends.append((filter, added))
    }
  }

  private mutating func name(
    _ record: IngestRecord, _ bytes: [UInt8], _ relays: RelayNumbers
  ) throws(Refusal) {
    let text = String(decoding: bytes[record.bytes], as: UTF8.self)
    do throws(RelayURLFault) {
      let url = try RelayURL(text).text
      names[record.relay] = (url, relays.number(of: url))
    } catch {
      throw Refusal(.badPayload, "the name of relay \(record.relay) in the run: \(error)", outcome: .notStarted)
    }
  }

  private mutating func event(_ index: Int, _ record: IngestRecord) throws(Refusal) -> IncomingEvent {
    let received = Int64(clamping: record.receivedNanoseconds / 1_000_000_000)
    guard record.relay != 0 else {
      return IncomingEvent(record: index, bytes: record.bytes, relay: nil, receivedAt: received)
    }
    guard let name = names[record.relay] else {
      throw Refusal(
        .badPayload, "record \(index) is from relay \(record.relay), and no record before it says which that is",
        outcome: .notStarted)
    }
    relayOfRecord[index] = record.relay
    return IncomingEvent(record: index, bytes: record.bytes, relay: name.number, receivedAt: received)
  }

  /// The answer: the gate's counts, with relays by name.
  func report(_ result: GateResult, seq: Int64) -> IngestResult {
    var report = result.counts
    report.seq = seq
    let stored = names.values.compactMap { name in
      name.number.flatMap { result.storedByRelay[$0] }.map { (name.url, $0) }
    }
    if !stored.isEmpty {
      report.storedByRelay = Dictionary(stored.prefix(IngestResult.storedRelayMaximum)) { first, _ in first }
    }
    var byteCount = 0
    for index in report.invalid.indices {
      let relay = relayOfRecord[report.invalid[index].record]
      report.invalid[index].relay = relay.flatMap { names[$0]?.url }
      byteCount +=
        report.invalid[index].reason.utf8.count + (report.invalid[index].relay?.utf8.count ?? 0)
        + (report.invalid[index].id?.utf8.count ?? 0)
      guard byteCount <= IngestResult.invalidByteCountMaximum else {
        report.invalid.removeSubrange(index...)
        break
      }
    }
    return report
  }
}
