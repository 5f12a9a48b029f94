import Bus
import Contracts
import Cryptography
import EventLoop
import Frames
import Glibc
import NostrContracts
import Signing

// `signer.open`: runs of gift wraps, opened on the thread pool. `OpeningQueue` says which slice is next; the outcomes
// wait here for the last one. Each slice takes the key as it is then: after an account was locked, no further wrap of
// its runs is opened.

extension SignerService {
  /// A run that is being opened.
  struct Opening {
    let run: WrapRun
    /// The account's name.
    let account: String
    var outcomes: [WrapOutcome?]
  }

  nonisolated static var coreCount: Int { sysconf(Int32(_SC_NPROCESSORS_ONLN)) }

  /// Opens a run; its request is answered when all of it is done.
  func beginOpening(_ key: SignerMachine.Key, _ run: WrapRun, of account: String, for request: BusRequest) {
    // It waits for other runs, so the hub must not take the worker for stuck; the queue bounds what is in hand.
    request.accept()
    request.onCancel = { [unowned self] in
      endOpening(key, Refusal(.cancelled, "cancelled by the caller", outcome: .unknown))
    }
    openings[key] = Opening(run: run, account: account, outcomes: Array(repeating: nil, count: run.wraps.count))
    perform(opening.received(key, wrapCount: run.wraps.count, byteCount: request.payload.bytes.count))
  }

  private func perform(_ actions: [OpeningQueue.Action]) {
    for action in actions {
      switch action {
      case .open(let key, let slice): open(slice, of: key)
      case .refuse(let key, let refusal): endOpening(key, refusal)
      case .answer(let key):
        guard let opening = openings.removeValue(forKey: key) else { continue }
        finish(key, .success(BusPayload(WrapOutcomesBytes(WrapOutcomes(opening.outcomes.compactMap(\.self)).encode()))))
      }
    }
  }

  private func endOpening(_ key: SignerMachine.Key, _ refusal: Refusal) {
    opening.ended(key)
    openings[key] = nil
    finish(key, .failure(refusal))
  }

  private func open(_ slice: Range<Int>, of key: SignerMachine.Key) {
    EventLoopActor.task { [self] in
      if let outcomes = await outcomes(of: slice, key) {
        for (place, outcome) in zip(slice, outcomes) { openings[key]?.outcomes[place] = outcome }
      }
      perform(opening.finished(key))
    }
  }

  /// The outcomes of a slice; nil when the run is over, or is now, because its account was locked.
  private func outcomes(of slice: Range<Int>, _ key: SignerMachine.Key) async -> [WrapOutcome]? {
    guard let item = openings[key] else { return nil }
    guard let secret = accounts[item.account]?.open, secret.publicKey == item.run.account else {
      endOpening(key, SignerMachine.lockedRefusal(item.account))
      return nil
    }
    return await EventLoopActor.onThreadPool { [conversations] in
      let opener = WrapOpener(secret, authors: conversations)
      return item.run.wraps[slice].map { opener.open($0) }
    }
  }
}
