import Addresses
import Bus
import Contracts
import Cryptography
import EventLoop
import Frames
import LinuxSystem
import Nostr
import NostrContracts
import RelaySession
import RelaySubscriptions
import WorkerKit

/// The reconciliations of a connector (NIP-77).
struct ReconciliationTable {
  /// Those under way.
  var all: [RelayReconciler] = []
  /// The reconciliation of each request at a relay.
  var running: [RequestKey: RelayReconciler] = [:]
  /// The relays where one has failed.
  var memory = ReconcileMemory()
}

extension Connector {
  /// Reconciles the store with a relay: in the window, the store lacks nothing of the filter's events afterwards that
  /// the relay sends. With an end other than `complete` the caller pages instead.
  ///
  /// - Parameters:
  ///   - filter: the filter; its `limit` is not used.
  ///   - since: the first second of the window.
  ///   - until: the last second.
  ///   - link: the relay's link.
  ///   - account: the account that authenticates if the relay requires it.
  ///   - namesAbsent: whether the events that the relay lacks are collected.
  ///   - countsOnly: whether what the store lacks is counted, and not fetched.
  ///   - isForeign: whether only others name the relay, and only for this.
  ///   - onProgress: called when the counts have changed.
  ///   - onEnd: called once, when the fetched events are committed; perhaps before this returns.
  /// - Returns: the reconciliation, to cancel it; nil when it has ended already.
  @discardableResult
  func reconcile(
    _ filter: Filter, since: Int64, until: Int64, at link: RelayLink, account: PublicKey? = nil,
    namesAbsent: Bool = false, countsOnly: Bool = false, isForeign: Bool = false,
    onProgress: @escaping @EventLoopActor (Reconciliation.Counts) -> Void = { _ in },
    onEnd: @escaping @EventLoopActor (Reconciliation.End, Reconciliation.Counts) -> Void
  ) -> RelayReconciler? {
    if !isPeer(link.url), let reason = reconciliations.memory.reason(at: link.url, now: EventLoop.process.now) {
      onEnd(.unsupported("not tried again within an hour: \(reason)"), Reconciliation.Counts())
      return nil
    }
    guard reconciliations.all.count < RelayReconcile.countMaximum else {
      let text = "\(RelayReconcile.countMaximum) reconciliations are under way already"
      onEnd(.failed(text, isAboutRelay: false), Reconciliation.Counts())
      return nil
    }
    let reconciler = RelayReconciler(
      self, link: link, filter, since: since, until: until, account: account, namesAbsent: namesAbsent,
      countsOnly: countsOnly, isForeign: isForeign, onProgress: onProgress, onEnd: onEnd)
    reconciliations.all.append(reconciler)
    reconciler.start()
    return reconciler
  }

  /// A reconciliation has ended at its relay; its events may not be committed yet.
  func ended(_ reconciler: RelayReconciler, _ end: Reconciliation.End) {
    reconciliations.all.removeAll { $0 === reconciler }
    if !isPeer(reconciler.link.url) {
      reconciliations.memory.ended(end, at: reconciler.link.url, now: EventLoop.process.now)
    }
    settle(reconciler.link)
  }

  /// Whether it is another Roost of the same owner. It reconciles for sure, so a failure says nothing of the next time.
  private func isPeer(_ url: RelayURL) -> Bool { url.requestTarget == PeerPath.text }

  // MARK: relay.reconcile, relay.compare

  func reconcile(
    _ request: BusRequest, _ wanted: RelayReconcile, _ filter: Filter
  ) throws(Refusal) -> RelayReconcileResult? {
    guard let asked = try asked(request, wanted, filter) else { return nil }
    let reconciler = reconcile(
      filter, since: wanted.since ?? 0, until: wanted.until ?? WallClock.seconds, at: asked.link,
      account: asked.account, countsOnly: wanted.countsOnly ?? false, isForeign: wanted.isForeign ?? false,
      // A caller that does not read misses counts, and nothing waits for it.
      onProgress: { _ = request.sendNow(part: BusPayload(ReconcileCounts($0))) },
      onEnd: { end, counts in
        request.onCancel = nil
        Self.answer(request, RelayMethod.reconcile, asked.link.url, end, ReconcileCounts(counts))
      })
    request.onCancel = { reconciler?.cancel() }
    if wanted.isForeign != true { asked.link.noteOwnWish() }
    return nil
  }

  func compare(
    _ request: BusRequest, _ wanted: RelayReconcile, _ filter: Filter
  ) throws(Refusal) -> RelayReconcileResult? {
    guard let asked = try asked(request, wanted, filter) else { return nil }
    var reconciler: RelayReconciler?
    reconciler = reconcile(
      filter, since: wanted.since ?? 0, until: wanted.until ?? WallClock.seconds, at: asked.link,
      account: asked.account, namesAbsent: true, countsOnly: wanted.countsOnly ?? false,
      isForeign: wanted.isForeign ?? false,
      onEnd: { end, counts in
        request.onCancel = nil
        let absent = Array(reconciler?.absent ?? [])
        reconciler = nil
        EventLoopActor.task {
          do throws(Refusal) {
            for start in stride(from: 0, to: absent.count, by: EventIDs.countMaximum) {
              let some = absent[start..<min(start + EventIDs.countMaximum, absent.count)]
              try await request.send(EventIDs(some), of: RelayMethod.compare)
            }
          } catch {
            return request.refuse(error)
          }
          Self.answer(request, RelayMethod.compare, asked.link.url, end, ReconcileCounts(counts))
        }
      })
    request.onCancel = { [weak reconciler] in reconciler?.cancel() }
    if wanted.isForeign != true { asked.link.noteOwnWish() }
    return nil
  }

  /// The relay and the account of a request; nil when another connector has the relay.
  private func asked(
    _ request: BusRequest, _ wanted: RelayReconcile, _ filter: Filter
  ) throws(Refusal) -> (link: RelayLink, account: PublicKey?)? {
    guard filter.search == nil, filter.limit == nil else {
      throw Refusal(
        .badRequest, "'filter' has 'limit' or 'search', and what they choose cannot be compared with a relay's choice",
        outcome: .notStarted)
    }
    if try handsOver(request, about: wanted.relay) { return nil }
    let url = try resolve(wanted.relay)
    let account = try wanted.account.map { text throws(Refusal) in try Self.account(text) }
    guard reconciliations.all.count < RelayReconcile.countMaximum else {
      throw Refusal(
        .full, "\(RelayReconcile.countMaximum) reconciliations are under way already", outcome: .notStarted)
    }
    let link = try link(url)
    request.accept()
    return (link, account)
  }

  private static func answer<Part>(
    _ request: BusRequest, _ method: Stream<RelayReconcile, Part, RelayReconcileResult>, _ url: RelayURL,
    _ end: Reconciliation.End, _ counts: ReconcileCounts
  ) {
    func respond(_ word: RelayReconcileResult.End, _ reason: String?) {
      request.respond(to: method, RelayReconcileResult(relay: url.text, end: word, reason: reason, counts: counts))
    }
    switch end {
    case .complete: respond(.complete, nil)
    case .unsupported(let reason): respond(.unsupported, reason)
    case .failed(let reason, _): respond(.failed, reason)
    case .cancelled: request.refuse(Refusal(.cancelled, "the reconciliation was given up", outcome: .done))
    }
  }
}

extension ReconcileCounts {
  /// The counts of the machine.
  fileprivate init(_ counts: Reconciliation.Counts) {
    self.init(
      windows: counts.windows, common: counts.common, needed: counts.needed, fetched: counts.fetched,
      unavailable: counts.unavailable, sentBytes: counts.sentBytes, receivedBytes: counts.receivedBytes)
  }
}
