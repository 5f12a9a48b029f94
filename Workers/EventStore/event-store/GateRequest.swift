import Bus
import Contracts
import EventArchive
import EventGate
import EventLoop
import Frames
import WorkerKit

/// What waits for the gate's answer to a submission.
@EventLoopActor
enum GateRequest {
  /// `store.ingest` or `store.import`.
  case run(BusRequest, Run)
  /// `store.publish`.
  case event(BusRequest)
  /// `store.offer`.
  case offer(BusRequest)
  /// A request whose notes are written; nil when no caller waits for them.
  case notes(BusRequest?)
  /// Stored events that a relay has too; resumed with nil when they are written.
  case sightings(CheckedContinuation<Refusal?, Never>)
  /// The note that a relay is distrusted.
  case distrust(relay: Int64)

  /// Answers its caller, if it has one.
  ///
  /// - Parameter lastSeq: the last seq of the archive.
  func answer(_ result: GateResult, lastSeq: Int64) {
    switch self {
    case .run(let request, let run): request.respond(to: StoreMethod.ingest, run.report(result, seq: lastSeq))
    case .event(let request): Self.answer(request, result)
    case .offer(let request):
      let outcomes = (result.outcomes ?? []).map { OfferOutcome($0) }
      request.respond(to: StoreMethod.offer, OfferOutcomes(OfferOutcome.bytes(of: outcomes)))
    case .notes(let request): request?.respond()
    case .sightings(let continuation): continuation.resume(returning: nil)
    case .distrust: break
    }
  }

  /// Refuses its caller, if it has one.
  func refuse(_ refusal: Refusal) {
    switch self {
    case .run(let request, _), .event(let request), .offer(let request): request.refuse(refusal)
    case .notes(let request): request?.refuse(refusal)
    case .sightings(let continuation): continuation.resume(returning: refusal)
    case .distrust: break
    }
  }

  private static func answer(_ request: BusRequest, _ result: GateResult) {
    let id = result.lastID.map { "\($0)" } ?? ""
    func respond(_ seq: Int64?, isNew: Bool, isMended: Bool = false) {
      request.respond(to: StoreMethod.publish, PublishResult(id: id, seq: seq, isNew: isNew, isMended: isMended))
    }
    func refuse(_ code: RefusalCode, _ message: String) { request.refuse(Refusal(code, message, outcome: .notStarted)) }
    switch result.last {
    case .archived(.stored(let seq)): respond(seq, isNew: true)
    case .archived(.duplicate(let seq)): respond(seq, isNew: false)
    case .archived(.mended(let seq)): respond(seq, isNew: false, isMended: true)
    case .ephemeral(let isNew): respond(nil, isNew: isNew)
    case .archived(.superseded):
      refuse(
        .superseded, "a newer event is in the place of \(id), or one of the same second with a lower id (NIP-01)")
    case .archived(.deleted): refuse(.deletedEvent, "its author has deleted \(id)")
    case .archived(.vanished):
      refuse(
        .deletedEvent, "its author has vanished: all before was to be forgotten (NIP-62), and \(id) with it")
    case .archived(.expired): refuse(.expiredEvent, "the time of \(id) is over (NIP-40)")
    case .invalid(let reason): refuse(.invalidEvent, reason)
    case .archived(.noted), nil: preconditionFailure("a submission of one event has an outcome")
    }
  }
}

extension OfferOutcome {
  /// An outcome at the gate, as a caller reads it.
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
