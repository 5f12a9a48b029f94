public import Addresses

/// Where a connection leads.
public struct HTTP2Origin: Sendable, Hashable, CustomStringConvertible {
  /// A name in lower case, or an address without brackets.
  public let host: String
  /// 1 to 65,535.
  public let port: UInt16

  /// An origin.
  public init(host: String, port: UInt16 = 443) {
    self.host = host
    self.port = port
  }

  /// The address that the host is, if it is no name.
  public var literal: IPAddress? { IPAddress(host) }

  /// As it stands in `:authority`.
  public var description: String {
    let name = literal?.isVersion6 == true ? "[\(host)]" : host
    return port == 443 ? name : "\(name):\(port)"
  }
}

/// What a name leads to, as the sender's owner finds it. The addresses given are the ones that are dialled: who forbids
/// private ones here need not fear that the name means another address a moment later.
public enum HTTP2Resolution: Sendable {
  /// To be tried in this order; the first four are.
  case addresses([IPAddress])
  /// The name leads nowhere now, for this reason; tried again later.
  case failed(String)
  /// The owner does not want to go there, for this reason.
  case forbidden(String)
}

/// Whose certificates an origin may show.
public enum HTTP2Trust: Sendable, Hashable {
  /// The system's authorities.
  case system
  /// The authorities in this PEM file.
  case authorities(file: String)
  /// No TLS at all. Only loopback addresses are dialled then, whatever the name leads to.
  case cleartext
}
