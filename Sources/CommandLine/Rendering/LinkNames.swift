public import Contracts
internal import Cryptography
internal import Nostr
internal import Wording

/// What people in conversations are called: a contact by its name; else the name in a profile, which anyone can choose,
/// with both ends of the key; else both ends of the key.
public struct LinkNames: Sendable {
  private var contacts: [String: String] = [:]
  private var profiles: [String: String] = [:]

  /// Names.
  ///
  /// - Parameters:
  ///   - contacts: the contacts of the account.
  ///   - profiles: profiles of others.
  public init(contacts: [LinkContact] = [], profiles: [KnownProfile] = []) {
    for contact in contacts { self.contacts[contact.publicKey] = contact.name }
    add(profiles)
  }

  /// More profiles.
  public mutating func add(_ profiles: [KnownProfile]) {
    for profile in profiles where profile.state == .known { self.profiles[profile.pubkey] = profile.shownName }
  }

  /// Whether nothing is known of a key.
  public func isUnknown(_ key: String) -> Bool { contacts[key] == nil && profiles[key] == nil }

  /// Whether a key is a contact's.
  func isContact(_ key: String) -> Bool { contacts[key] != nil }

  /// A person on one line, harmless to the terminal.
  public func text(_ key: String) -> String {
    if let name = contacts[key] { return Self.name(name) }
    let short = VisibleText.make(PublicKeyText.short(String(key.prefix(64))))
    return profiles[key].map { "\(Self.name($0)) \(short)" } ?? short
  }

  /// Several people, the first ones by name.
  public func text(_ keys: [String]) -> String {
    let shown = keys.prefix(Self.shownMaximum).map { text($0) }.joined(separator: ", ")
    return keys.count > Self.shownMaximum ? "\(shown) and \(keys.count - Self.shownMaximum) more" : shown
  }

  private static let shownMaximum = 4

  /// A foreign name.
  static func name(_ text: String) -> String { DisplayWidth.cut(VisibleText.make(text), to: EventText.nameColumns) }
}
