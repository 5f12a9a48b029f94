/// What signatures a relay takes.
public struct SignatureRules: Hashable, Sendable {
  /// What becomes of signatures in the first form, `METHOD:path:timestamp:bodyhash`, which name no relay: one made for
  /// a relay is good for all others within the window.
  public enum FirstVersion: String, Hashable, Sendable, CaseIterable, Codable {
    /// Taken.
    case accept
    /// Taken from keys that have a device here, which is for the ledger to tell; a new key uses version 2.
    case registeredOnly = "registered_only"
    /// Refused.
    case reject
  }

  /// Signatures of version 1.
  public var firstVersion: FirstVersion
  /// The names by which clients know this relay, as `push.example`; without one there is no version 2.
  public var audiences: [String]
  /// How far a timestamp may lie in the past or in the future, seconds. Phones ask another app to sign, and a person to
  /// allow it: that takes minutes.
  public var windowSeconds: Int64

  /// The window of the clients in the field.
  public static let standardWindowSeconds: Int64 = 300

  /// How a signature of version 2 is made, as an order.
  static let form =
    "send X-Pubky-Version: 2 and X-Pubky-Audience, and sign"
    + " pubky-push/2:audience:METHOD:path:timestamp:hex(sha256(body))"

  /// The same, with this relay's name.
  var howToSign: String {
    guard let audience = audiences.first else { return "its operator has given it no name to sign for (audience)" }
    return "\(Self.form); the audience is \(audience)"
  }

  /// Rules.
  public init(
    firstVersion: FirstVersion = .accept, audiences: [String] = [],
    windowSeconds: Int64 = SignatureRules.standardWindowSeconds
  ) {
    precondition(windowSeconds > 0, "a window has room")
    self.firstVersion = firstVersion
    self.audiences = audiences
    self.windowSeconds = windowSeconds
  }
}
