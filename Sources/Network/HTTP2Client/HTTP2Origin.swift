public import Addresses

/// The target of a connection.
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

  /// The address, if the host is one and not a name.
  public var literal: IPAddress? { IPAddress(host) }

  /// The form for `:authority`.
  public var description: String {
    let name = literal?.isVersion6 == true ? "[\(host)]" : host
    return port == 443 ? name : "\(name):\(port)"
  }
}

/// The addresses of a name, as the sender's owner finds them. The sender dials these very addresses: an owner that
/// forbids private ones here is safe from a name that changes its address a moment later.
public enum HTTP2Resolution: Sendable {
  /// To be tried in this order; only the first four are.
  case addresses([IPAddress])
  /// The name has no address now, for this reason; the sender tries again later.
  case failed(String)
  /// The owner forbids this target, for this reason.
  case forbidden(String)
}

/// The authorities whose certificates are accepted.
public enum HTTP2Trust: Sendable, Hashable {
  /// The system's authorities.
  case system
  /// The authorities in this PEM file.
  case authorities(file: String)
  /// No TLS. Only loopback addresses are dialled then, whatever the name resolves to.
  case cleartext
}
