public import Frames

/// `name.resolve`: the key and the relays that a person's name leads to (NIP-05). The server of the name's domain is
/// asked over HTTPS, at no private address; or the one that `name-server` gives. No redirect is followed; an answer may
/// take 5 s and 1 MiB, and is kept for half an hour.
public struct NameResolve: MethodArguments {
  /// An example of the arguments.
  public static let example = #"{"name":"bob@example.com"}"#

  /// `name@domain`, or a domain alone.
  public var name: String

  /// A name to resolve.
  public init(name: String) { self.name = name }
}

/// The answer of `name.resolve`. It is the word of the name's server: a person who claims the name has that key only
/// if it is the same one.
public struct ResolvedName: Codable, Sendable, Hashable, Payload {
  /// The name as it was looked up, in lower case.
  public var name: String
  /// The key, 64 hexadecimal digits.
  public var pubkey: String
  /// The relays that the server gives for this key, canonical URLs; they are foreign.
  public var relays: [String]
  /// When the server was asked, seconds since 1970.
  public var fetchedAt: Int64

  /// A name's key and relays.
  public init(name: String, pubkey: String, relays: [String], fetchedAt: Int64) {
    self.name = name
    self.pubkey = pubkey
    self.relays = relays
    self.fetchedAt = fetchedAt
  }
}

extension RefusalCode {
  /// The name's server answers, but not with a key for this name.
  public static let noSuchName: RefusalCode = "no-such-name"
  /// The name's server cannot be reached.
  public static let nameUnreachable: RefusalCode = "name-unreachable"
}
