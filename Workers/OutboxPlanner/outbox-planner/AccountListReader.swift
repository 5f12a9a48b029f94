import Bus
import Contracts
import Cryptography
import EventLoop
import Frames
import Logging
import Nostr
import NostrContracts
import WorkerKit

/// Reads the accounts' relay lists from the store: the stored ones, then new ones.
@EventLoopActor
final class AccountListReader {
  /// The keys of the accounts, in hexadecimal.
  private(set) var accounts: Set<String> = []
  /// Called with each part of the store's answer, and the accounts of the subscription.
  var onPart: (@EventLoopActor (ObservedEvents, [PublicKey]) -> Void)?

  private let worker: Worker
  private let log: Logger
  private var answer: BusAnswer?
  /// The accounts of the present subscription.
  private var authors: [String] = []

  private static let kinds: [UInt16] = [
    EventKind.relayList, EventKind.blockedRelays, EventKind.directMessageRelays, EventKind.follows,
  ]

  init(_ worker: Worker, _ log: Logger) { (self.worker, self.log) = (worker, log) }

  /// Reads the lists of these accounts from now on, and of no other account.
  func read(of accounts: Set<String>) {
    self.accounts = accounts
    answer?.abandon(Refusal(.cancelled, "other accounts are read"))
    answer = nil
    let authors = accounts.sorted()
    self.authors = authors
    guard !authors.isEmpty else { return }
    let what = "store.observe of the accounts' lists"
    worker.persist(what, ceilingMilliseconds: Planner.retryMillisecondsMaximum, log) {
      [self] () async throws(Refusal) in
      guard self.authors == authors else { return true }
      let keys = authors.compactMap { PublicKey($0) }
      var wanted = StoreObserve(filters: [JSONValue(of: Filter(authors: keys, kinds: Self.kinds))])
      wanted.policy = .cacheOnly
      let answer = try await worker.bus.ask(StoreMethod.observe, wanted)
      guard self.authors == authors else {
        answer.abandon(Refusal(.cancelled, "other accounts are read"))
        return true
      }
      self.answer = answer.answer
      while let part = try await answer.nextPart(), self.authors == authors { onPart?(part, keys) }
      return false
    }
  }
}
