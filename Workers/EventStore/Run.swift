import Bus
import Contracts
import EventGate
import Frames
import Nostr

/// A run of records, read: its events for the gate, and what is needed to report on them.
struct Run {
  private(set) var events: [IncomingEvent] = []
  private var names: [UInt32: (url: String, number: Int64?)] = [:]
  private var relayOfRecord: [Int: UInt32] = [:]

  /// - Throws: `bad-payload` when the run cannot be read, or does not say which relay a number means; nothing of it is taken.
  init(_ payload: BusPayload, _ relays: inout RelayNumbers) throws(Refusal) {
    guard payload.isRaw else { throw Refusal(.badPayload, "a run of records is RAW, not JSON", outcome: .notStarted) }
    let records: [IngestRecord]
    do throws(IngestRecord.Problem) { records = try IngestRecord.read(payload.bytes) } catch {
      throw Refusal(.badPayload, error.description, outcome: .notStarted)
    }
    events.reserveCapacity(records.count)
    for (index, record) in records.enumerated() {
      switch record.kind {
      case .relayName: try name(record, payload.bytes, &relays)
      case .event: events.append(try event(index, record))
      // Coverage is not kept yet: where a relay's stored events end is taken note of by nobody.
      case .storedEnd, .pageEnd: break
      }
    }
  }

  private mutating func name(
    _ record: IngestRecord, _ bytes: [UInt8], _ relays: inout RelayNumbers
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

  /// The answer: the gate's counts, with the relays of invalid events by name.
  func report(_ result: GateResult, seq: Int64) -> IngestResult {
    var report = result.counts
    report.seq = seq
    var byteCount = 0
    for index in report.invalid.indices {
      let relay = relayOfRecord[report.invalid[index].record]
      report.invalid[index].relay = relay.flatMap { names[$0]?.url }
      byteCount += report.invalid[index].reason.utf8.count + (report.invalid[index].relay?.utf8.count ?? 0)
      guard byteCount <= IngestResult.invalidByteCountMaximum else {
        report.invalid.removeSubrange(index...)
        break
      }
    }
    return report
  }
}
