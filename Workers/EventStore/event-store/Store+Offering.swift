import Bus
import Contracts
import EventArchive
import EventGate
import Frames

extension OfferOutcome {
  /// What a caller is told of what became of an event at the gate.
  init(_ outcome: GateOutcome) {
    switch outcome {
    case .archived(.stored(let seq)): self = .stored(seq: seq)
    case .archived(.duplicate(let seq)): self = .duplicate(seq: seq)
    case .archived(.mended(let seq)): self = .mended(seq: seq)
    case .archived(.superseded): self = .superseded
    case .archived(.deleted): self = .deleted
    case .archived(.vanished): self = .vanished
    case .archived(.expired): self = .expired
    case .archived(.noted): preconditionFailure("a run of events has no notes")
    case .ephemeral(let isNew): self = isNew ? .ephemeral : .ephemeralAgain
    case .invalid(let reason): self = .invalid(reason)
    }
  }
}

extension Store {
  /// The events of a run of `store.offer`, for the gate.
  ///
  /// - Throws: `bad-payload` when it cannot be read; nothing of it is taken.
  static func offered(_ payload: BusPayload) throws(Refusal) -> [IncomingEvent] {
    guard payload.isRaw else { throw Refusal(.badPayload, "a run of events is RAW, not JSON", outcome: .notStarted) }
    let events: [Range<Int>]
    do throws(OfferRun.Problem) { events = try OfferRun.read(payload.bytes) } catch {
      throw Refusal(.badPayload, error.description, outcome: .notStarted)
    }
    let now = Self.now
    return events.enumerated().map { IncomingEvent(record: $0, bytes: $1, relay: nil, receivedAt: now) }
  }

  /// The answer to a run.
  static func told(_ result: GateResult) -> OfferOutcomes {
    OfferOutcomes(OfferOutcome.bytes(of: (result.outcomes ?? []).map { OfferOutcome($0) }))
  }
}
