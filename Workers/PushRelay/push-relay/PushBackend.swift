import PushDelivery
import PushLedger
import PushRequests
import PushRules

/// What the front needs from the process behind it.
protocol PushBackend: Sendable {
  /// Executes a command; nil if nothing can be written.
  func perform(_ command: PushWrite) async -> LedgerAnswer?
  /// Nil if it cannot be read.
  func hasDevice(_ owner: PushOwner) async -> Bool?
  /// Nil if they cannot be read.
  func contacts(of owner: PushOwner) async -> PushContacts?
  func nostrStanding(of owner: PushOwner) async -> NostrStanding
  /// The stored rules, or the defaults; nil if they cannot be read.
  func eventRules(of owner: PushOwner) async -> WakeRules?
  /// Nil if it cannot be read.
  func state(ofWake id: [UInt8], sender: PushOwner) async -> WakeState?
  var isHealthy: Bool { get async }
  /// `ok`, `off`, or what is wrong.
  var platformWords: [PushPlatform: String] { get async }
}
