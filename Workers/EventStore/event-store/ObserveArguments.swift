import Addresses
import Bus
import Contracts
import EventIndex
import EventLoop
import Frames
import Nostr
import NostrContracts
import Observations
import WorkerKit

/// The arguments of `store.observe`, checked.
@EventLoopActor
struct ObserveArguments {
  let plan: ObservePlan
  let afterSeq: Int64?
  let maxAge: Int64
  let id: String?
  /// The only keys whose gift wraps are sent; nil: all.
  let recipients: Recipients?
  let form: PartForm
  /// Whether it takes what a newer event has replaced before it came.
  let takesSuperseded: Bool
  /// What the caller's role may read.
  let reader: StoreReader

  /// - Parameter frameLimit: of this connection: the planner reads what is observed from one frame.
  /// - Throws: `bad-request` with the argument that is wrong.
  init(_ request: BusRequest, _ wanted: StoreObserve, _ asked: [Filter], frameLimit: Int) throws(Refusal) {
    reader = StoreReader(role: request.callerRole)
    let filters = try reader.observed(wanted, asked, now: Store.now)
    let relays = try Self.relays(wanted.relays ?? [])
    recipients = ArchiveReads.recipients(wanted.recipients, for: request, observing: filters)
    form = wanted.pages == true ? .page : .observed
    plan = ObservePlan(
      filters, policy: wanted.policy ?? .cacheWithNetwork, relays: relays,
      isExclusive: wanted.exclusiveRelays ?? false, networkLimit: wanted.networkLimit, recipients: recipients?.name)
    let maximum = ObserveTable.entryByteMaximum(frameLimit: frameLimit)
    guard ObserveTable.byteCount(plan) <= maximum else {
      throw Self.bad("'filters' and 'relays' have more bytes together than \(maximum), which is what can be observed")
    }
    takesSuperseded = wanted.superseded ?? false
    maxAge = wanted.maxAge ?? 0
    afterSeq = wanted.afterSeq
    id = wanted.id
  }

  /// Canonical URLs.
  static func relays(_ texts: [String]) throws(Refusal) -> [String] {
    var urls: [String] = []
    for text in texts {
      do throws(RelayURLFault) { urls.append(try RelayURL(text).text) } catch { throw bad("'relays': \(error)") }
    }
    return urls
  }

  private static func bad(_ message: String) -> Refusal { Refusal(.badRequest, message, outcome: .notStarted) }
}
