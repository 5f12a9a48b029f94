public import Contracts

// In which order an account is forgotten, and what comes next. Without I/O; what is done is kept by the caller, in its
// ledger, so that a plan made again after a death has the same next step.
//
//     relays ─▶ people ─▶ each worker that keeps something for accounts, the event store last ─▶ key ─▶ end
//
// `people` itself is first, so that none of its edits is published again.
// The store is asked until an answer has removed nothing, some time after the one before: what was on its way from
// relays when the account was left arrives meanwhile. The other workers take nothing new of an account that is left.
//
// A worker that is configured but does not run is waited for: it may keep something. A worker that is off, and was not
// started since the supervisor's start, is passed over and named.

/// A worker, as the supervisor reports it.
public struct ForgettingWorker: Hashable, Sendable {
  /// Its name.
  public var name: String
  /// Its role.
  public var role: String
  /// Whether it takes work.
  public var isReady: Bool
  /// Whether it is off: not enabled, and not started.
  public var isOff: Bool

  /// A worker.
  public init(name: String, role: String, isReady: Bool, isOff: Bool = false) {
    (self.name, self.role, self.isReady, self.isOff) = (name, role, isReady, isOff)
  }
}

/// What the signer says of the account.
public enum ForgottenState: Hashable, Sendable {
  /// It is left, to be forgotten.
  case leaving
  /// It is not left for that: it was brought back.
  case kept
  /// Its key is gone.
  case gone
}

/// The next step.
public enum ForgettingStep: Hashable, Sendable {
  /// Find out which relays have events of it.
  case relays
  /// Send `account.forget` to this worker.
  case worker(String, role: String)
  /// Wait until this worker runs.
  case awaitWorker(String)
  /// Remove what `people` itself keeps.
  case people
  /// Have the signer remove the key.
  case key
  /// Remove the notes of the steps: everything is done.
  case end
  /// Remove the notes of the steps: the account was brought back.
  case giveUp

  /// Its name in the ledger, and for people; nil: it is no step that is kept.
  public var name: String? {
    switch self {
    case .relays: "relays"
    case .worker(let name, _): name
    case .people: "people"
    case .key: "key"
    case .awaitWorker, .end, .giveUp: nil
    }
  }
}

/// The order of the steps.
public enum ForgettingPlan {
  /// How long after an answer the store is asked again, in milliseconds.
  public static let settleMilliseconds: UInt64 = 2_000

  /// The next step.
  ///
  /// - Parameters:
  ///   - state: what the signer says.
  ///   - done: the names of the steps that are done.
  ///   - workers: all workers.
  public static func next(
    _ state: ForgottenState, done: Set<String>, workers: [ForgettingWorker]
  ) -> ForgettingStep {
    if state == .kept { return .giveUp }
    // The key is removed last: whatever is not noted, the steps before were done.
    if state == .gone || done.contains("key") { return .end }
    if !done.contains("relays") { return .relays }
    if !done.contains("people") { return .people }
    for worker in order(workers) where !done.contains(worker.name) {
      return worker.isReady ? .worker(worker.name, role: worker.role) : .awaitWorker(worker.name)
    }
    return .key
  }

  /// The workers that are asked, in this order.
  public static func order(_ workers: [ForgettingWorker]) -> [ForgettingWorker] {
    Role.withAccountData.flatMap { role in
      workers.filter { $0.role == role.name && !$0.isOff }.sorted { $0.name < $1.name }
    }
  }

  /// The workers that would be asked if they were not off.
  public static func passedOver(_ workers: [ForgettingWorker]) -> [String] {
    workers.filter { worker in worker.isOff && Role.withAccountData.contains { $0.name == worker.role } }
      .map(\.name).sorted()
  }

  /// Whether a worker's answer completes its step.
  ///
  /// - Parameters:
  ///   - role: the worker's role.
  ///   - answer: the answer.
  public static func isComplete(_ role: String, _ answer: AccountForgotten) -> Bool {
    role != Role.eventStore.name || answer.gone.isEmpty
  }

  /// Adds what was removed to what was removed before, by its words.
  public static func sum(_ parts: [AccountForgotten.Part]) -> [AccountForgotten.Part] {
    var sums: [AccountForgotten.Part] = []
    for part in parts {
      if let place = sums.firstIndex(where: { $0.what == part.what }) {
        sums[place].count += part.count
      } else {
        sums.append(part)
      }
    }
    return sums
  }
}
