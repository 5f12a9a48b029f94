public import Addresses

// Whose word counts for where a request comes from.
//
// Behind a proxy every request comes from the proxy, and who sent it stands in X-Forwarded-For, which anybody can
// write. Each proxy adds the address it was spoken to from at the right; so from the right the list is true for as long
// as those who wrote it are trusted, and the first address that is none of theirs is the client. What stands left of it
// is the client's own invention.

/// The proxies whose `X-Forwarded-For` is believed.
public struct ProxyTrust: Hashable, Sendable {
  /// The networks they are in.
  public let trusted: [AddressRange]

  /// Most addresses of a list that are looked at, and most bytes. Chains of proxies are short; who writes more has made
  /// them up, and then the last one that was looked at is the client.
  public static let hopMaximum = 16
  /// Most bytes of all such fields together that are looked at, from the right.
  public static let byteCountMaximum = 2_048

  /// Trust in these; in nobody, without any.
  public init(_ trusted: [AddressRange] = []) { self.trusted = trusted }

  /// Who sent a request.
  ///
  /// - Parameters:
  ///   - peer: whose connection it is.
  ///   - forwardedFor: the values of all fields `X-Forwarded-For`, in their order.
  public func client(peer: IPAddress, forwardedFor: [String] = []) -> IPAddress {
    var client = peer.unmapped
    guard isTrusted(client), !forwardedFor.isEmpty else { return client }
    let all = forwardedFor.joined(separator: ",").utf8
    let text = String(decoding: all.suffix(Self.byteCountMaximum), as: UTF8.self)
    let hops = text.split(separator: ",", omittingEmptySubsequences: false).suffix(Self.hopMaximum)
    for hop in hops.reversed() {
      // What is no address was written by nobody we trust: the hop before it is the last one that is known.
      guard let address = Self.address(hop) else { return client }
      client = address.unmapped
      if !isTrusted(client) { return client }
    }
    return client
  }

  /// Whether an address is one of theirs.
  public func isTrusted(_ address: IPAddress) -> Bool { trusted.contains { $0.contains(address) } }

  /// `192.0.2.1`, `192.0.2.1:443`, `2001:db8::1`, `[2001:db8::1]`, `[2001:db8::1]:443`; some proxies add the port.
  private static func address(_ hop: Substring) -> IPAddress? {
    var text = hop[...]
    while let first = text.first, first == " " || first == "\t" { text = text.dropFirst() }
    while let last = text.last, last == " " || last == "\t" { text = text.dropLast() }
    if let address = IPAddress(String(text)) { return address }
    let parts = text.split(separator: ":", omittingEmptySubsequences: false)
    if text.hasPrefix("["), let end = text.firstIndex(of: "]") {
      return IPAddress(String(text[text.index(after: text.startIndex)..<end]))
    }
    return parts.count == 2 ? IPAddress(String(parts[0])) : nil
  }
}
