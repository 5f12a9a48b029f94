import PushDelivery
import PushLedger
import PushRequests
import PushRules

/// What the front needs of the process behind it.
protocol PushBackend: Sendable {
  /// Does a command; nil when nothing can be written.
  func perform(_ command: PushWrite) async -> LedgerAnswer?
  /// Nil when that cannot be read.
  func hasDevice(_ owner: PushOwner) async -> Bool?
  /// Nil when they cannot be read.
  func contacts(of owner: PushOwner) async -> PushContacts?
  func nostrStanding(of owner: PushOwner) async -> NostrStanding
  /// What was kept, or the standard; nil when it cannot be read.
  func eventRules(of owner: PushOwner) async -> WakeRules?
  /// Nil when it cannot be read.
  func state(ofWake id: [UInt8], sender: PushOwner) async -> WakeState?
  var isHealthy: Bool { get async }
  /// `ok`, `off`, or what is wrong.
  var platformWords: [PushPlatform: String] { get async }
}
