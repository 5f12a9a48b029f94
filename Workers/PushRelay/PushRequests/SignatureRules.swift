/// Which signatures a relay accepts.
public struct SignatureRules: Hashable, Sendable {
  /// Whether signatures in the first form, `METHOD:path:timestamp:bodyhash`, are accepted. They name no relay: one made
  /// for a relay is valid at all others within the window.
  public enum FirstVersion: String, Hashable, Sendable, CaseIterable, Codable {
    /// Accepted.
    case accept
    /// Accepted from keys that have a device here, which the ledger knows; a new key uses version 2.
    case registeredOnly = "registered_only"
    /// Refused.
    case reject
  }

  /// Whether signatures of version 1 are accepted.
  public var firstVersion: FirstVersion
  /// The names by which clients know this relay, such as `push.example`; without one there is no version 2.
  public var audiences: [String]
  /// How far a timestamp may be in the past or in the future, in seconds. A phone asks another app to sign, and that
  /// app asks a person: this takes minutes.
  public var windowSeconds: Int64

  /// The window of the clients in the field.
  public static let standardWindowSeconds: Int64 = 300

  /// How to sign version 2, as an instruction.
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
