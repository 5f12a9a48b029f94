public import Addresses

// Where a server of this Roost listens, and how other workers recognise that an address leads back to it.
//
// A connector that dialled this Roost's own local relay would send every event back to the store that just sent it,
// would publish to itself, and would send itself the requests that it sends to the network. No event is lost by that,
// but the work never ends. So roostd tells the workers that dial where its local relays listen, and they do not use
// such addresses. They check twice: before dialling, what the URL says; once connected, where the connection has led,
// because a name says nothing until it is resolved.

/// An address and a port at which a server listens, as text: `127.0.0.1:4869`, `[::1]:4869`.
///
/// It is a value of its text: names are not resolved.
public struct ListenAddress: Hashable, Sendable, CustomStringConvertible {
  /// The address. An IPv4 address that was written as an IPv6 address (`[::ffff:127.0.0.1]`) is stored as IPv4.
  public let host: IPAddress
  /// 1 to 65,535.
  public let port: UInt16

  /// The form of an address, for error messages.
  public static let form = "an address and a port such as \"127.0.0.1:4869\" or \"[::1]:4869\""

  /// Reads an address.
  ///
  /// - Throws: a sentence that says what is wrong and quotes the text.
  public init(_ text: String) throws(ListenAddressFault) {
    guard let colon = text.lastIndex(of: ":") else { throw ListenAddressFault("\"\(text)\" is not \(Self.form)") }
    var name = text[..<colon]
    let isBracketed = name.hasPrefix("[") && name.hasSuffix("]")
    if isBracketed { name = name.dropFirst().dropLast() }
    guard isBracketed || !name.contains(":") else {
      throw ListenAddressFault("\"\(text)\": write an IPv6 address in brackets, and its port after it: [::1]:4869")
    }
    guard let written = IPAddress(String(name)), written.isVersion6 == isBracketed else {
      throw ListenAddressFault(
        "\"\(text)\" is not \(Self.form); a name is not looked up here"
          + (name.lowercased() == "localhost" ? ", localhost is 127.0.0.1" : ""))
    }
    let digits = text[text.index(after: colon)...]
    let isNumber = !digits.isEmpty && digits.utf8.allSatisfy { $0 &- 0x30 < 10 }
    guard isNumber, let port = UInt16(digits), port > 0 else {
      throw ListenAddressFault("\"\(text)\": the port goes from 1 to 65535")
    }
    host = written.unmapped
    self.port = port
  }

  /// Whether only programs on this machine can reach it: 127.0.0.0/8, ::1.
  public var isLoopback: Bool { host.scope == .loopback }

  /// Whether two servers cannot listen at both: the same port, and either the same address or an unspecified address
  /// that includes the other.
  public func overlaps(_ other: ListenAddress) -> Bool {
    guard port == other.port else { return false }
    return host == other.host || host.standsFor(other.host) || other.host.standsFor(host)
  }

  /// The address as text.
  public var description: String { host.isVersion6 ? "[\(host)]:\(port)" : "\(host):\(port)" }
}

/// Why a text is not a ``ListenAddress``.
public struct ListenAddressFault: Error, Hashable, Sendable, CustomStringConvertible {
  /// The sentence.
  public let description: String

  init(_ description: String) { self.description = description }
}

extension IPAddress {
  /// Whether a server that listens here also accepts connections to `other`. `::` means IPv6 only (`StreamListener`).
  fileprivate func standsFor(_ other: IPAddress) -> Bool { isUnspecified && isVersion6 == other.isVersion6 }
}
