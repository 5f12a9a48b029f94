public import Cryptography

// The one seam for money. Whoever pays is handed an intent that is on the disk already, once: the tracker keeps intents
// by job, provider and payment hash, and has each of them carried out once in the life of one process. After a death it
// does not know whether it was, and asks before anything is paid again.

/// What has become of a payment.
public enum PaymentOutcome: Sendable, Hashable {
  /// It was made; the preimage proves it.
  case paid(preimage: Octets32)
  /// It was not made, and will not be; why.
  case failed(String)
  /// Somebody else makes it, or nobody knows yet: the proof will be shown.
  case pending
}

/// A way to pay: a wallet, or a person.
public protocol PaymentRail: Sendable {
  /// What it is called, for people.
  var name: String { get }
  /// Pays. Called at most once for an intent in the life of a process.
  ///
  /// - Parameters:
  ///   - intent: what is paid.
  ///   - zap: of a zap its signed request, for which the payee's wallet makes an invoice; its receipt is the proof.
  func pay(_ intent: PaymentIntent, zap: ZapRequestFact?) async -> PaymentOutcome
  /// Looks what has become of an intent that an earlier process may have begun to carry out. Pays nothing.
  func lookUp(_ intent: PaymentIntent, zap: ZapRequestFact?) async -> PaymentOutcome
}

/// The rail that there always is: a person pays the invoice that is shown, and shows the preimage; or takes the request
/// for a zap to a wallet, whose receipt comes by itself.
public struct PersonalRail: PaymentRail {
  /// `by hand`
  public let name = "by hand"

  /// The rail.
  public init() {}

  /// The proof will be shown.
  public func pay(_ intent: PaymentIntent, zap: ZapRequestFact?) async -> PaymentOutcome { .pending }
  /// The proof will be shown.
  public func lookUp(_ intent: PaymentIntent, zap: ZapRequestFact?) async -> PaymentOutcome { .pending }
}
