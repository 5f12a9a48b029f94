// One spelling for each relay.
//
// A relay's address is a key: of its connection, its statistics, its coverage, of "where seen". Two spellings of one
// relay mean two connections, twice the traffic, and a plan that counts one relay as two. So an address is made
// canonical where it enters the program, and no code compares spellings after that. The rules, and their cost, are in
// docs/decisions/0003-canonical-relay-url.md.

/// The address of a relay in its one canonical spelling, such as `wss://relay.example.com` or
/// `ws://127.0.0.1:7777/inbox`.
///
/// Canonical means: scheme and host in lower case, no default port, no trailing slash or stray punctuation, percent
/// escapes in upper case and only where needed. Connections use this spelling too. In JSON it is a string.
public struct RelayURL: Hashable, Sendable, CustomStringConvertible {
  /// The canonical spelling.
  public let text: String
  /// Whether the connection is encrypted: `wss`.
  public let isSecure: Bool
  /// The host without brackets: a name, an IPv4 or an IPv6 address.
  public let host: String
  /// The port to connect to, whether it is the default or not.
  public let port: UInt16
  /// The target of the upgrade request: path and query, at least `/`.
  public let requestTarget: String

  /// Longest address, in bytes. No relay in use comes near it; a longer one is usually two addresses pasted together.
  public static let byteCountMaximum = 200

  /// Reads an address as a person or an event gives it; surrounding white space is dropped.
  ///
  /// - Throws: a sentence in the user's terms.
  public init(_ text: String) throws(RelayURLFault) {
    do throws(RelayURLFault.Problem) {
      let parts = try RelayURLParts(text)
      isSecure = parts.isSecure
      host = parts.host
      port = parts.port
      requestTarget = (parts.path.isEmpty ? "/" : parts.path) + parts.query
      self.text = "\(parts.isSecure ? "wss" : "ws")://\(parts.authority)\(parts.path)\(parts.query)"
    } catch {
      throw RelayURLFault(address: text, problem: error)
    }
  }

  /// The canonical spelling.
  public var description: String { text }
  /// Whether both are the same relay.
  public static func == (left: RelayURL, right: RelayURL) -> Bool { left.text == right.text }
  /// Hashes the canonical spelling.
  public func hash(into hasher: inout Hasher) { hasher.combine(text) }
}

extension RelayURL: Codable {
  /// Reads a string, canonical or not.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    do {
      self = try RelayURL(try container.decode(String.self))
    } catch let fault as RelayURLFault {
      throw DecodingError.dataCorruptedError(in: container, debugDescription: fault.description)
    }
  }

  /// Writes the canonical spelling.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(text)
  }
}

/// Why an address is not that of a relay.
public struct RelayURLFault: Error, Hashable, Sendable, CustomStringConvertible {
  /// What is wrong with it.
  public enum Problem: Error, Hashable, Sendable {
    /// Nothing but white space.
    case empty
    /// Longer than ``RelayURL/byteCountMaximum``.
    case tooLong(byteCount: Int)
    /// No `wss://` or `ws://` at the beginning: the scheme found instead, or nil if there is no scheme.
    case scheme(String?)
    /// `name:password@`.
    case credentials
    /// No host.
    case noHost
    /// A host that is neither a name nor an address.
    case badHost(String)
    /// A port that is not a number of 1 to 65,535.
    case badPort(String)
    /// `#…`.
    case fragment
    /// A byte that an address cannot have: white space, a control character, a letter outside ASCII, a bad escape.
    case badCharacter(String)
    /// `//` in the path.
    case emptySegment
    /// The path looks like a second address.
    case secondAddress
  }

  /// The address as it was given, cut to 80 characters; the part before an `@` is left out, since it can be a password.
  public let address: String
  /// What is wrong.
  public let problem: Problem

  init(address: String, problem: Problem) {
    let (shown, isSecret) = Self.withoutCredentials(address)
    self.address = shown.count > 80 ? String(shown.prefix(79)) + "…" : shown
    switch problem {
    // The quoted text would be part of the password.
    case .badHost, .badPort: self.problem = isSecret ? .credentials : problem
    default: self.problem = problem
    }
  }

  private static func withoutCredentials(_ address: String) -> (String, isSecret: Bool) {
    guard let mark = address.lastIndex(of: "@") else { return (address, false) }
    let colon = address.firstIndex(of: ":").flatMap { address[$0...].hasPrefix("://") ? $0 : nil }
    let scheme = colon.map { address[..<$0] + "://" } ?? ""
    return (scheme + "…" + address[mark...], true)
  }

  /// `"https://x.org" is not a relay's address: it begins with https://; a relay's begins with wss://`.
  public var description: String { "\"\(address)\" is not a relay's address: \(complaint)" }

  private var complaint: String {
    switch problem {
    case .empty: "it is empty"
    case .tooLong(let byteCount): "it has \(byteCount) bytes; at most \(RelayURL.byteCountMaximum) are allowed"
    case .scheme(.some(let scheme)):
      "it begins with \(scheme)://; a relay's begins with wss:// (or ws:// without encryption)"
    case .scheme(nil): "it does not begin with wss:// (or ws:// without encryption)"
    case .credentials: "it holds a user name or password before the @"
    case .noHost: "there is no host after the //"
    case .badHost(let host): "\"\(host)\" is not a host name or an IP address (write other alphabets as xn--…)"
    case .badPort(let port): "\"\(port)\" is not a port from 1 to 65535"
    case .fragment: "it has a part after #"
    case .badCharacter(let what): "it holds \(what)"
    case .emptySegment: "its path has an empty part (//)"
    case .secondAddress: "its path looks like another address; were two pasted together?"
    }
  }
}
