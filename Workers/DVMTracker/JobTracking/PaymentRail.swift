public import Cryptography

// The one interface for money. A rail gets an intent that is on disk already, and gets it once: the tracker keeps
// intents by job, provider and payment hash, and has each carried out once in the life of a process. After a death it
// does not know whether an intent was carried out, and looks that up before anything is paid again.

/// The outcome of a payment.
public enum PaymentOutcome: Sendable, Hashable {
  /// It was made; the preimage proves it.
  case paid(preimage: Octets32)
  /// It was not made, and will not be; why.
  case failed(String)
  /// It is made elsewhere, or its outcome is not known yet: the proof will be shown.
  case pending
}

/// A way to pay: a wallet, or a person.
public protocol PaymentRail: Sendable {
  /// Its name, for people.
  var name: String { get }
  /// Pays. Called at most once for an intent in the life of a process.
  ///
  /// - Parameters:
  ///   - intent: what is paid.
  ///   - zap: for a zap, its signed request, for which the payee's wallet makes an invoice; its receipt is the proof.
  func pay(_ intent: PaymentIntent, zap: ZapRequestFact?) async -> PaymentOutcome
  /// Finds out what became of an intent that an earlier process may have begun to carry out. Pays nothing.
  func lookUp(_ intent: PaymentIntent, zap: ZapRequestFact?) async -> PaymentOutcome
}

/// The rail that is always there: a person pays the invoice and shows the preimage, or takes the request for a zap to a
/// wallet, whose receipt then comes from the network.
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
