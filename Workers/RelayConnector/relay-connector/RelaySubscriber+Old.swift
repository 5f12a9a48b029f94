import Addresses
import Cryptography
import EventLoop
import LinuxSystem
import Logging
import Nostr
import RelaySubscriptions

// What is covered, but was checked long ago: a relay can receive old events at any time. Once a day the store is
// compared with the relay (NIP-77). Where that is not possible, the relay is asked in pages again, once a week.

/// Compares the store with the relay in a window of time.
typealias Reconcile =
  @EventLoopActor (
    OldCoverage, PublicKey?, @escaping @EventLoopActor (Reconciliation.End) -> Void
  ) -> RelayReconciler?

extension RelaySubscriber {
  /// Compares what was checked long ago, one window after the other.
  func compareOld(of key: String) {
    guard let interest = interests[key], var windows = oldCoverage[key], !windows.isEmpty else { return }
    let window = windows.removeFirst()
    oldCoverage[key] = windows
    guard window.isComparable, mayClaim(key) else { return compareOld(of: key) }
    _ = reconcile(window, interest.account) { [weak self] end in
      // Never in this call: what has ended at once would go on in here.
      EventLoopActor.task { self?.compared(window, of: key, end) }
    }
  }

  private static let pagedWindowMaximum = 10_000

  private func compared(_ window: OldCoverage, of key: String, _ end: Reconciliation.End) {
    guard interests[key] != nil else { return }
    if case .complete = end {
      Self.lastFetch -= 1
      lines.stored.end(
        relay: link.url.text, subscription: Self.lastFetch, filters: [window.filter.json], saying: .part(window.times)
      ) {}
    } else {
      log.info("not compared with the relay", metadata: ["relay": "\(link.url)", "why": "\(end)"])
      // Once for each window: what the pages do not prove stays old, and would come again without end.
      if end.isAboutRelay, window.isPagedAgain(at: WallClock.seconds), pagedWindows.count < Self.pagedWindowMaximum,
        pagedWindows.insert(window).inserted
      {
        pagedAgain[key, default: []].append(window)
      }
    }
    if oldCoverage[key]?.isEmpty == false {
      compareOld(of: key)
    } else if pagedAgain[key] != nil, isOpen {
      fetch(key)
    }
  }
}

extension Reconciliation.End {
  /// Whether the relay is the reason that it is not complete.
  fileprivate var isAboutRelay: Bool {
    switch self {
    case .unsupported: true
    case .failed(_, let isAboutRelay): isAboutRelay
    case .complete, .cancelled: false
    }
  }
}
