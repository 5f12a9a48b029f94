/// A rule of the signer's key `sign-kinds`: kinds of events that a role of the user's own workers may have signed.
///
///     example:1               one kind
///     example:30000-39999     kinds from … to …, both included
///     example:1@bot           the same for one account only: its name, its npub or its 64 digits
///
/// If all rules of a role name accounts, the role acts as those accounts only, for encrypting and decrypting too.
///
/// Two parts of Roost read it: the check of `supervisor.conf`, and the signer, which applies it.
public struct SigningRule: Hashable, Sendable {
  /// The role's name; never one of Roost's own roles.
  public let role: String
  /// The kinds, without ``authenticationKind``.
  public let kinds: ClosedRange<UInt16>
  /// The account that the rule applies to, in the notation of the rule; nil: all accounts.
  public let account: String?

  /// The kind that authenticates to a relay (NIP-42): no rule can allow it.
  public static let authenticationKind: UInt16 = 22_242
  /// The maximum number of rules that `supervisor.conf` may have for one signer.
  public static let countMaximum = 256
  /// The form of a rule, for error messages: it follows "… is not ".
  public static let form =
    "of the form \"role:kind\" or \"role:kind-kind\", such as \"example:1\" or \"example:30000-39999\", "
    + "with a role that is your own and kinds from 0 to 65535 without 22242; \"@account\" behind it means one account alone"

  /// Reads a rule; nil when the text is not a rule.
  public init?(_ text: String) {
    let halves = text.split(separator: "@", maxSplits: 1, omittingEmptySubsequences: false)
    guard let text = halves.first else { return nil }
    account = halves.count == 2 ? String(halves[1]) : nil
    if let account {
      guard (1...Self.accountByteCountMaximum).contains(account.utf8.count), account.utf8.allSatisfy(Self.isOfAccount)
      else { return nil }
    }
    let parts = text.split(separator: ":", omittingEmptySubsequences: false)
    guard parts.count == 2, !parts[0].isEmpty else { return nil }
    guard !Role.builtIn.contains(where: { $0.name == parts[0] }) else { return nil }
    let ends = parts[1].split(separator: "-", omittingEmptySubsequences: false).map(Self.kind)
    guard (1...2).contains(ends.count), let first = ends.first ?? nil, let last = ends.last ?? nil, first <= last,
      !(first...last).contains(Self.authenticationKind)
    else { return nil }
    role = String(parts[0])
    kinds = first...last
  }

  /// The length of a public key in hexadecimal digits, which is longer than a name or an npub.
  private static let accountByteCountMaximum = 64

  /// Whether a byte can be part of a name or a key. Only the signer knows whether such an account exists.
  private static func isOfAccount(_ byte: UInt8) -> Bool {
    (0x30...0x39).contains(byte) || (0x61...0x7A).contains(byte) || byte == UInt8(ascii: "-")
      || byte == UInt8(ascii: "_")
  }

  /// A kind in digits. A sign in front of them, which Swift would accept, is not valid.
  private static func kind(_ digits: Substring) -> UInt16? {
    digits.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) } ? UInt16(digits) : nil
  }
}
