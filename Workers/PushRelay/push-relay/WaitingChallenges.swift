import Cryptography
import EventLoop
import LinuxSystem
import PushDelivery
import PushLedger

// A token is asked for a proof once a minute. Who claims it in a minute that is another's waits here for his own, some
// minutes at most. It is kept nowhere else: the ledger has only the code's hash. A relay that dies meanwhile has sent
// nothing, and whoever waits in vain registers again.

/// Challenges whose minute is still to come.
@EventLoopActor
final class WaitingChallenges {
  /// A challenge's minute has come.
  var onDue: ((PushOwner, PushChallenge) -> Void)?

  /// The next to be sent last.
  private var waiting: [(owner: PushOwner, challenge: PushChallenge)] = []
  private let timer = LoopTimer()

  /// Most that wait, some 300 bytes each. What comes beyond is not sent.
  private static let countMaximum = 1_000
  /// The wall clock may be set, and is what the ledger goes by: so it is looked at again and again.
  private static let lookMilliseconds: UInt64 = 1_000

  /// One more; it may be due at once.
  func add(_ challenge: PushChallenge, for owner: PushOwner) {
    guard challenge.sendAt > WallClock.seconds else { onDue?(owner, challenge); return }
    guard waiting.count < Self.countMaximum else { return }
    let place = waiting.firstIndex { $0.challenge.sendAt <= challenge.sendAt } ?? waiting.endIndex
    waiting.insert((owner, challenge), at: place)
    look()
  }

  /// Nothing is sent any more.
  func close() {
    timer.cancel()
    waiting = []
  }

  private func look() {
    let now = WallClock.seconds
    while let next = waiting.last, next.challenge.sendAt <= now {
      waiting.removeLast()
      onDue?(next.owner, next.challenge)
    }
    guard !waiting.isEmpty, !timer.isSet else { return }
    timer.set(afterMilliseconds: Self.lookMilliseconds) { [unowned self] in look() }
  }
}
