import Addresses
import Cryptography
import PushAdmission
import PushDelivery
import Synchronization

/// The limits, for all threads: they are used on the threads of HTTP, and in the ledger's transactions.
final class SharedAdmission: Sendable {
  private let admission: Mutex<WakeAdmission>
  /// The last wake of each kind for each recipient. Dropped wakes do not count: otherwise a wake beyond the strangers'
  /// limit would let the next one join it for nothing.
  private let recent = Mutex<[Recent: Carrier]>([:])

  private struct Recent: Hashable, Sendable {
    var recipient: PushOwner
    var type: String
  }

  /// The wake that others of its kind join.
  private struct Carrier: Sendable {
    var id: [UInt8]
    var acceptedAt: Int64
    var contents: Octets32?
    var isOfContact: Bool
  }

  /// Wakes of one kind within this time are one push.
  private static let repeatMilliseconds: Int64 = 2_000
  /// At this number of entries the table is emptied.
  private static let recentMaximum = 10_000

  /// The limits, with what was spent when the last process ended.
  init(_ limits: AdmissionLimits, snapshot: [UInt8]?, isClean: Bool, now: Int64) {
    var key = SystemRandomNumberGenerator()
    let hashKey = (key.next(), key.next())
    let saved = snapshot.flatMap {
      WakeAdmission(snapshot: $0, limits: limits, hashKey: hashKey, now: now, isClean: isClean)
    }
    admission = Mutex(saved ?? WakeAdmission(limits: limits, hashKey: hashKey, now: now))
  }

  /// A request of any kind.
  func admit(requestFrom address: IPAddress?, now: Int64) -> AdmissionVerdict {
    admission.withLock { $0.admit(requestFrom: address, now: now) }
  }

  /// A registration with a valid signature.
  func admit(registrationBy owner: PushOwner, from address: IPAddress?, now: Int64) -> AdmissionVerdict {
    admission.withLock { $0.admit(registrationBy: owner, from: address, now: now) }
  }

  /// A list or rules with a valid signature.
  func admit(changeBy owner: PushOwner, from address: IPAddress?, now: Int64) -> AdmissionVerdict {
    admission.withLock { $0.admit(changeBy: owner, from: address, now: now) }
  }

  /// A wake with a valid signature.
  func admit(_ ask: WakeAsk, now: Int64) -> AdmissionVerdict { admission.withLock { $0.admit(ask, now: now) } }

  /// Whether a wake of the same kind went to the same recipient a moment ago: both are one push, which costs once.
  func isRepeated(_ wake: Wake) -> Bool {
    recent.withLock { recent in
      guard let last = recent[Recent(recipient: wake.recipient, type: wake.type)] else { return false }
      return wake.acceptedAt >= last.acceptedAt && wake.acceptedAt - last.acceptedAt < Self.repeatMilliseconds
        && wake.joins(last.contents, isOfContact: last.isOfContact)
    }
  }

  /// A wake that joins no other is accepted for its recipient.
  func began(_ wake: Wake) {
    recent.withLock { recent in
      if recent.count >= Self.recentMaximum { recent = [:] }
      recent[Recent(recipient: wake.recipient, type: wake.type)] = Carrier(
        id: wake.id, acceptedAt: wake.acceptedAt, contents: wake.contents, isOfContact: wake.isOfContact)
    }
  }

  /// A wake reached no device: the next of its kind is a push of its own, and is charged.
  func failed(_ wake: Wake) {
    recent.withLock { recent in
      let key = Recent(recipient: wake.recipient, type: wake.type)
      if recent[key]?.id == wake.id { recent[key] = nil }
    }
  }

  /// What is spent, for the ledger.
  func snapshot() -> [UInt8] { admission.withLock { $0.snapshot() } }
}
