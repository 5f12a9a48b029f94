internal import Cryptography
public import PushDelivery

/// Reads an owner from a request; `PushOwner.name` writes it.
///
/// One key has one spelling. 52 characters of z-base-32 have 260 bits, so sixteen texts decode to one key; if all of
/// them were accepted, a sender could get around a list of blocked senders. Other spellings (`pk:…`, upper case, a URL)
/// are refused.
public enum OwnerName {
  /// Characters of a Pubky key.
  public static let characterCount = 52

  /// The owner that a text names: 52 characters of z-base-32 are a Pubky key, 64 hexadecimal digits a Nostr key, both
  /// in lower case.
  ///
  /// Nil for anything else, for points that are no public keys, and for keys of small order, for which anyone can sign.
  public static func owner(_ text: some StringProtocol) -> PushOwner? {
    if let octets = Octets32(hexadecimal: text.utf8) {
      return ParsedPublicKey(PublicKey(octets)) == nil ? nil : PushOwner(.nostr, octets)
    }
    guard let octets = ZBase32.octets(text), Ed25519PublicKey(octets) != nil else { return nil }
    return PushOwner(.pubky, octets)
  }

  static let rule = "a public key is 52 lower-case characters of z-base-32, or 64 hexadecimal digits of a Nostr key"
}
