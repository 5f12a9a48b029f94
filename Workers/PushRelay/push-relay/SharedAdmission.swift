import Addresses
import Cryptography
import PushAdmission
import PushDelivery
import Synchronization

/// The limits, for requests of any thread: they are asked on the threads of HTTP, and in the ledger's transactions.
final class SharedAdmission: Sendable {
  private let admission: Mutex<WakeAdmission>
  /// When somebody was last woken for something, Unix milliseconds. Wakes that were dropped are none: else one that was
  /// beyond what strangers may would make way for the next.
  private let recent = Mutex<[Recent: Carrier]>([:])

  private struct Recent: Hashable, Sendable {
    var recipient: PushOwner
    var type: String
  }

  /// What others of its kind join.
  private struct Carrier: Sendable {
    var id: [UInt8]
    var acceptedAt: Int64
    var contents: Octets32?
    var isOfContact: Bool
  }

  /// Wakes of one kind within this time are one push.
  private static let repeatMilliseconds: Int64 = 2_000
  /// Entries from which it begins again.
  private static let recentMaximum = 10_000

  /// Limits, as far as they were spent when the last process ended.
  init(_ limits: AdmissionLimits, snapshot: [UInt8]?, isClean: Bool, now: Int64) {
    var key = SystemRandomNumberGenerator()
    let hashKey = (key.next(), key.next())
    let saved = snapshot.flatMap {
      WakeAdmission(snapshot: $0, limits: limits, hashKey: hashKey, now: now, isClean: isClean)
    }
    admission = Mutex(saved ?? WakeAdmission(limits: limits, hashKey: hashKey, now: now))
  }

  /// A request of whatever kind.
  func admit(requestFrom address: IPAddress?, now: Int64) -> AdmissionVerdict {
    admission.withLock { $0.admit(requestFrom: address, now: now) }
  }

  /// A registration that was proved.
  func admit(registrationBy owner: PushOwner, from address: IPAddress?, now: Int64) -> AdmissionVerdict {
    admission.withLock { $0.admit(registrationBy: owner, from: address, now: now) }
  }

  /// A list or rules that were proved.
  func admit(changeBy owner: PushOwner, from address: IPAddress?, now: Int64) -> AdmissionVerdict {
    admission.withLock { $0.admit(changeBy: owner, from: address, now: now) }
  }

  /// A wake that was proved.
  func admit(_ ask: WakeAsk, now: Int64) -> AdmissionVerdict { admission.withLock { $0.admit(ask, now: now) } }

  /// Whether a wake of the same kind went to the same recipient a moment ago: both are one push, which costs once.
  func isRepeated(_ wake: Wake) -> Bool {
    recent.withLock { recent in
      guard let last = recent[Recent(recipient: wake.recipient, type: wake.type)] else { return false }
      return wake.acceptedAt >= last.acceptedAt && wake.acceptedAt - last.acceptedAt < Self.repeatMilliseconds
        && wake.joins(last.contents, isOfContact: last.isOfContact)
    }
  }

  /// A wake that joins no other goes to its recipient.
  func began(_ wake: Wake) {
    recent.withLock { recent in
      if recent.count >= Self.recentMaximum { recent = [:] }
      recent[Recent(recipient: wake.recipient, type: wake.type)] = Carrier(
        id: wake.id, acceptedAt: wake.acceptedAt, contents: wake.contents, isOfContact: wake.isOfContact)
    }
  }

  /// A wake reached nobody: the next of its kind is a push, and costs what one does.
  func failed(_ wake: Wake) {
    recent.withLock { recent in
      let key = Recent(recipient: wake.recipient, type: wake.type)
      if recent[key]?.id == wake.id { recent[key] = nil }
    }
  }

  /// What is spent, for the ledger.
  func snapshot() -> [UInt8] { admission.withLock { $0.snapshot() } }
}
