/// Something outside Nostr that events are about (NIP-73): a page, a hashtag, a book, a podcast.
public struct ExternalContent: Hashable, Sendable {
  /// The value of `i` and `I`: `https://example.com/page`, `#nostr`, `isbn:9780765382030`.
  public let id: String
  /// The value of `k` and `K`: `web`, `#`, `isbn`.
  public let kind: String
  /// A page about it, for those who cannot read the id.
  public let page: String?

  /// Longest id, in bytes.
  public static let byteCountMaximum = 2_048

  /// Kinds whose name is in front of the id, and how the id behind it is written.
  private static let prefixes: [(kind: String, spell: @Sendable (String) -> String)] = [
    ("podcast:item:guid", { $0 }), ("podcast:publisher:guid", { $0 }), ("podcast:guid", { $0 }),
    ("isbn", { $0.filter { $0 != "-" } }), ("geo", { $0.lowercased() }), ("iso3166", { $0.uppercased() }),
    ("isan", { $0 }), ("doi", { $0.lowercased() }),
  ]

  /// Reads an id as a person types it, and spells it as NIP-73 does: a URL without its fragment, with scheme and host
  /// in lower case; a hashtag in lower case.
  ///
  /// - Throws: `badExternal`.
  public init(_ text: String, page: String? = nil) throws(TemplateFault) {
    guard !text.isEmpty, text.utf8.count <= Self.byteCountMaximum,
      !text.unicodeScalars.contains(where: { $0.value <= 0x20 || $0.value == 0x7F })
    else { throw .badExternal }
    self.page = page
    if text.hasPrefix("#") {
      guard text.count > 1 else { throw .badExternal }
      (id, kind) = (text.lowercased(), "#")
    } else if let url = Self.url(text) {
      (id, kind) = (url, "web")
    } else if let found = Self.prefixes.first(where: { text.lowercased().hasPrefix($0.kind + ":") }) {
      let value = String(text.dropFirst(found.kind.count + 1))
      guard !value.isEmpty else { throw .badExternal }
      (id, kind) = (found.kind + ":" + found.spell(value), found.kind)
    } else if let chain = Self.chain(text) {
      (id, kind) = (text, chain)
    } else {
      throw .badExternal
    }
  }

  /// `https://EXAMPLE.com/Page#part` becomes `https://example.com/Page`; nil for what is no URL of the web.
  private static func url(_ text: String) -> String? {
    guard let scheme = ["https://", "http://"].first(where: { text.lowercased().hasPrefix($0) }) else { return nil }
    let rest = text.dropFirst(scheme.count).prefix { $0 != "#" }
    let host = rest.prefix { $0 != "/" && $0 != "?" }
    // A name and a password in front of a host are not for the public.
    guard !host.isEmpty, !host.contains("@") else { return nil }
    let path = rest.dropFirst(host.count)
    return scheme + host.lowercased() + (path.isEmpty ? "/" : path)
  }

  /// `bitcoin:tx:…` is of the kind `bitcoin:tx`, `ethereum:1:address:…` of the kind `ethereum:address`.
  private static func chain(_ text: String) -> String? {
    let parts = text.split(separator: ":", omittingEmptySubsequences: false)
    guard parts.count == 3 || parts.count == 4, parts.allSatisfy({ !$0.isEmpty }) else { return nil }
    let what = parts[parts.count - 2]
    return ["tx", "address"].contains(what) ? "\(parts[0]):\(what)" : nil
  }

  /// The tags of it: `["i", id, page]` and `["k", kind]`.
  ///
  /// - Parameters:
  ///   - name: `i` or `I`.
  ///   - kindName: `k` or `K`.
  func tags(_ name: String, _ kindName: String) -> [[String]] {
    [[name, id] + (page.map { [$0] } ?? []), [kindName, kind]]
  }
}
