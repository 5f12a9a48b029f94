import Cryptography
import EventLoop
import LinuxSystem
import PushDelivery
import PushLedger

// A token gets one challenge a minute. A claim during another claim's minute waits here for its own, some minutes at
// most. Nothing else has the challenge: the ledger has only the code's hash. If the relay dies meanwhile, nothing was
// sent, and the owner that waits in vain registers again.

/// Challenges whose minute is still to come.
@EventLoopActor
final class WaitingChallenges {
  /// Called when a challenge's minute has come.
  var onDue: ((PushOwner, PushChallenge) -> Void)?

  /// The next one to send is the last.
  private var waiting: [(owner: PushOwner, challenge: PushChallenge)] = []
  private let timer = LoopTimer()

  /// Most that wait, about 300 bytes each. A further one is not sent.
  private static let countMaximum = 1_000
  /// The ledger goes by the wall clock, which may be set: so it is read again and again.
  private static let lookMilliseconds: UInt64 = 1_000

  /// Adds a challenge; it may be due at once.
  func add(_ challenge: PushChallenge, for owner: PushOwner) {
    guard challenge.sendAt > WallClock.seconds else { onDue?(owner, challenge); return }
    guard waiting.count < Self.countMaximum else { return }
    let place = waiting.firstIndex { $0.challenge.sendAt <= challenge.sendAt } ?? waiting.endIndex
    waiting.insert((owner, challenge), at: place)
    look()
  }

  /// Nothing is sent from now on.
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
