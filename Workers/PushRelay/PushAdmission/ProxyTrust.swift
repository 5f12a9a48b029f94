public import Addresses

// Which address counts as the client's.
//
// Behind a proxy every request comes from the proxy, and the client's address is in X-Forwarded-For, which any client
// can write. Each proxy appends at the right the address of its own peer. So from the right the list is true while
// trusted proxies wrote it, and the first address that is not a trusted proxy's is the client.
// Everything to the left of it is the client's own invention.

/// The proxies whose `X-Forwarded-For` is believed.
public struct ProxyTrust: Hashable, Sendable {
  /// The networks of the proxies.
  public let trusted: [AddressRange]

  /// Most addresses of the list that are read, from the right. Chains of proxies are short; a longer list is invented,
  /// and then the last address that was read counts as the client.
  public static let hopMaximum = 16
  /// Most bytes of all such fields together that are read, from the right.
  public static let byteCountMaximum = 2_048

  /// Trusts these networks; without any, no proxy.
  public init(_ trusted: [AddressRange] = []) { self.trusted = trusted }

  /// The client's address of a request.
  ///
  /// - Parameters:
  ///   - peer: the address at the other end of the connection.
  ///   - forwardedFor: the values of all fields `X-Forwarded-For`, in their order.
  public func client(peer: IPAddress, forwardedFor: [String] = []) -> IPAddress {
    var client = peer.unmapped
    guard isTrusted(client), !forwardedFor.isEmpty else { return client }
    let all = forwardedFor.joined(separator: ",").utf8
    let text = String(decoding: all.suffix(Self.byteCountMaximum), as: UTF8.self)
    let hops = text.split(separator: ",", omittingEmptySubsequences: false).suffix(Self.hopMaximum)
    for hop in hops.reversed() {
      // A trusted proxy writes addresses only, so the hop before this one is the last that is known.
      guard let address = Self.address(hop) else { return client }
      client = address.unmapped
      if !isTrusted(client) { return client }
    }
    return client
  }

  /// Whether an address is a trusted proxy's.
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
