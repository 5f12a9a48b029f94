// How to pay a person: a lightning address (LUD-16), as in profiles, names a page (LUD-06). Zap requests contain the
// address of that page in bech32 (LUD-01).
//
//     alice@example.com  ─▶  https://example.com/.well-known/lnurlp/alice  ─▶  lnurl1…
//
// Nothing is fetched here.

/// A lightning address, `alice@example.com`: it names the page that makes invoices for its owner.
public struct LightningAddress: Hashable, Sendable, CustomStringConvertible {
  /// The part before the `@`.
  public let name: String
  /// The host after it, in lower case, with its port if there is one.
  public let domain: String

  /// Longest address, in bytes.
  public static let byteCountMaximum = 320

  private static let letters = Set("abcdefghijklmnopqrstuvwxyz0123456789".utf8)
  private static let pagePath = "/.well-known/lnurlp/"
  private static let prefix = "lnurl"
  /// The most characters of a page in bech32 that are read.
  private static let lnurlCharacterCountMaximum = 2_000

  /// Reads an address; nil for anything else. A stranger wrote it: characters that would need escapes in the page's
  /// address are not accepted in the name or the host.
  public init?(_ text: String) {
    guard text.utf8.count <= Self.byteCountMaximum else { return nil }
    let parts = text.lowercased().split(separator: "@", omittingEmptySubsequences: false).map(String.init)
    guard parts.count == 2, Self.consists(parts[0], of: "-_.+"), Self.isHost(parts[1]) else { return nil }
    (name, domain) = (parts[0], parts[1])
  }

  /// Reads a page in bech32, if it is the page of a lightning address; nil for any other.
  public init?(lnurl: String) {
    // `try?`: a text that is not bech32 names no page.
    guard let (hrp, data) = try? Bech32.decode(lnurl, maximumCount: Self.lnurlCharacterCountMaximum),
      hrp == Self.prefix, let page = String(validating: data, as: UTF8.self), page.hasPrefix("https://")
    else { return nil }
    let place = page.dropFirst("https://".count)
    guard let slash = place.firstIndex(of: "/"), place[slash...].hasPrefix(Self.pagePath) else { return nil }
    self.init("\(place[slash...].dropFirst(Self.pagePath.count))@\(place[..<slash])")
  }

  /// `alice@example.com`
  public var description: String { "\(name)@\(domain)" }

  /// The page's address.
  public var page: String { "https://\(domain)\(Self.pagePath)\(name)" }

  /// The page's address in bech32, as in zap requests.
  public var lnurl: String { Bech32.encode(hrp: Self.prefix, data: Array(page.utf8)) }

  private static func consists(_ text: String, of others: String) -> Bool {
    !text.isEmpty && text.utf8.allSatisfy { letters.contains($0) || others.utf8.contains($0) }
  }

  private static func isHost(_ text: String) -> Bool {
    let parts = text.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
    guard let host = parts.first, consists(host, of: "-."), host.contains("."), !host.hasPrefix("."),
      !host.hasSuffix("."), !host.contains("..")
    else { return false }
    return parts.count == 1 || (parts.count == 2 && UInt16(parts[1]).map { "\($0)" == parts[1] && $0 > 0 } == true)
  }
}
