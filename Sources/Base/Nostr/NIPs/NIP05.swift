internal import Addresses
internal import Cryptography
public import JSON

// `bob@example.com` (NIP-05): a name that a web server gives to a key. This file has only what needs no network: the
// form of the name, the address to query, and how to read an answer. The code that fetches must follow no redirect, and
// bound the answer.

/// An internet identifier: a name and a domain.
public struct InternetIdentifier: Hashable, Sendable, CustomStringConvertible {
  /// The name: `a`…`z`, digits, `-`, `_` and `.`; `_` for the domain itself.
  public let name: String
  /// The domain in lower case.
  public let domain: String

  /// Longest name, in characters.
  public static let nameCountMaximum = 64

  /// Reads `name@domain`, or a domain alone, which means `_@domain`. Upper case is accepted and made lower case.
  ///
  /// A domain has at least two labels and is not an IP address: an identifier comes from a stranger's profile, and must
  /// not direct a client to a machine of the local network.
  ///
  /// - Returns: nil for anything else.
  public init?(_ text: String) {
    // The Kelvin sign becomes a k in lower case.
    guard text.utf8.count <= Self.nameCountMaximum + 254, text.utf8.allSatisfy({ $0 < 0x80 }) else { return nil }
    let text = text.lowercased()
    let parts = text.split(separator: "@", omittingEmptySubsequences: false)
    guard (1...2).contains(parts.count), let domain = parts.last, Self.isDomain(domain) else { return nil }
    let name = parts.count == 2 ? String(parts[0]) : "_"
    guard (1...Self.nameCountMaximum).contains(name.utf8.count),
      name.utf8.allSatisfy({ $0 &- 0x61 < 26 || $0 &- 0x30 < 10 || "-_.".utf8.contains($0) })
    else { return nil }
    self.name = name
    self.domain = String(domain)
  }

  private static func isDomain(_ text: Substring) -> Bool {
    let labels = text.split(separator: ".", omittingEmptySubsequences: false)
    guard text.utf8.count <= 253, labels.count > 1, let last = labels.last else { return false }
    let areLabels = labels.allSatisfy { label in
      (1...63).contains(label.utf8.count) && label.utf8.first != 0x2D && label.utf8.last != 0x2D
        && label.utf8.allSatisfy { $0 &- 0x61 < 26 || $0 &- 0x30 < 10 || $0 == 0x2D }
    }
    // A domain that ends in a number is an address, in one of its many spellings.
    return areLabels && last.utf8.first.map { $0 &- 0x61 < 26 } == true
  }

  /// `https://example.com/.well-known/nostr.json?name=bob`
  public var address: String { "https://\(domain)/.well-known/nostr.json?name=\(name)" }

  /// The same at a server that answers for other domains too: `https://names.example/example.com?name=bob`.
  ///
  /// - Parameter server: `https://…` or `http://…`, with or without a path.
  public func address(at server: String) -> String {
    "\(server.hasSuffix("/") ? String(server.dropLast()) : server)/\(domain)?name=\(name)"
  }

  /// `bob@example.com`, or the domain alone for its own name.
  public var description: String { name == "_" ? domain : "\(name)@\(domain)" }

  /// The most bytes of an answer that are read.
  public static let answerByteCountMaximum = 1 << 20

  /// What a server's answer says about this name.
  ///
  /// - Parameter json: up to ``answerByteCountMaximum``.
  /// - Returns: the key, and the relays given for it, up to ``NostrEntity/relayCountMaximum``; nil if the answer has no
  ///   key, or an invalid one.
  /// - Throws: if the answer is not the JSON it must be.
  public func find(in json: [UInt8]) throws(JSONFault) -> ProfilePointer? {
    let result = json.prefix(Self.answerByteCountMaximum).withUnsafeBytes {
      bytes -> Result<ProfilePointer?, JSONFault> in
      do throws(JSONFault) {
        return .success(try find(in: bytes))
      } catch {
        return .failure(error)
      }
    }
    return try result.get()
  }

  private func find(in bytes: UnsafeRawBufferPointer) throws(JSONFault) -> ProfilePointer? {
    var key: PublicKey?
    var relays: [PublicKey: [String]] = [:]
    var scanner = JSONScanner(bytes)
    try scanner.forEachMember { name, scanner throws(JSONFault) in
      switch name {
      case "names":
        try scanner.forEachMember { name, scanner throws(JSONFault) in
          guard let text = try scanner.stringOrSkip(), name.hasSameBytes(as: self.name) else { return }
          key = PublicKey(text)
        }
      case "relays":
        try scanner.forEachMember { name, scanner throws(JSONFault) in
          let addresses = try scanner.stringsOrSkip(countMaximum: NostrEntity.relayCountMaximum)
          if let key = PublicKey(name) { relays[key] = addresses }
        }
      default: try scanner.skipValue()
      }
    }
    try scanner.expectEnd()
    return key.map { key in
      ProfilePointer(pubkey: key, relays: (relays[key] ?? []).compactMap { RelayURL(reading: $0) })
    }
  }
}
