public import Addresses

// Where a server of this house listens, and how it is told that an address leads back to it.
//
// A relay-connector that dialled this Roost's own local relay would bring every event back to the store that has just
// given it out, publish to itself, and ask itself what it asks the network. No event is lost by that, but the work
// never ends. So roostd tells those who dial where its local relays listen, and they leave such addresses alone:
// before dialling, by what the URL says; and once connected, by where the connection has led, because a name says
// nothing until it is looked up.

/// An address and a port at which a server listens, as it is written: `127.0.0.1:4869`, `[::1]:4869`.
///
/// A value of its text: names are not looked up.
public struct ListenAddress: Hashable, Sendable, CustomStringConvertible {
  /// The address; one of IPv4 also where it was written as IPv6 carries it (`[::ffff:127.0.0.1]`).
  public let host: IPAddress
  /// 1 to 65,535.
  public let port: UInt16

  /// What an address looks like, for complaints.
  public static let form = "an address and a port such as \"127.0.0.1:4869\" or \"[::1]:4869\""

  /// Reads an address.
  ///
  /// - Throws: what is wrong with it, a sentence that quotes it.
  public init(_ text: String) throws(ListenAddressFault) {
    guard let colon = text.lastIndex(of: ":") else { throw ListenAddressFault("\"\(text)\" is not \(Self.form)") }
    var name = text[..<colon]
    let isBracketed = name.hasPrefix("[") && name.hasSuffix("]")
    if isBracketed { name = name.dropFirst().dropLast() }
    guard isBracketed || !name.contains(":") else {
      throw ListenAddressFault("\"\(text)\": an address of IPv6 stands in brackets, with its port behind: [::1]:4869")
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

  /// Whether only programs of this machine reach it: 127.0.0.0/8, ::1.
  public var isLoopback: Bool { host.scope == .loopback }

  /// Whether two servers cannot listen at both: the same port, and the same address or one that stands for it.
  public func overlaps(_ other: ListenAddress) -> Bool {
    guard port == other.port else { return false }
    return host == other.host || host.standsFor(other.host) || other.host.standsFor(host)
  }

  /// The address as it is written.
  public var description: String { host.isVersion6 ? "[\(host)]:\(port)" : "\(host):\(port)" }
}

/// Why a text is no ``ListenAddress``.
public struct ListenAddressFault: Error, Hashable, Sendable, CustomStringConvertible {
  /// The sentence.
  public let description: String

  init(_ description: String) { self.description = description }
}

extension IPAddress {
  /// Whether a server that listens here takes connections to `other` too. `::` is for IPv6 alone (`StreamListener`).
  fileprivate func standsFor(_ other: IPAddress) -> Bool { isUnspecified && isVersion6 == other.isVersion6 }
}
