internal import Glibc

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
  let host: MachineAddress
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
    guard let host = MachineAddress(String(name)), (host.isVersion6 || host.wasMapped) == isBracketed else {
      throw ListenAddressFault(
        "\"\(text)\" is not \(Self.form); a name is not looked up here"
          + (name.lowercased() == "localhost" ? ", localhost is 127.0.0.1" : ""))
    }
    let digits = text[text.index(after: colon)...]
    let isNumber = !digits.isEmpty && digits.utf8.allSatisfy { $0 &- 0x30 < 10 }
    guard isNumber, let port = UInt16(digits), port > 0 else {
      throw ListenAddressFault("\"\(text)\": the port goes from 1 to 65535")
    }
    self.host = host
    self.port = port
  }

  /// Whether only programs of this machine reach it: 127.0.0.0/8, ::1.
  public var isLoopback: Bool { host.isLoopback }

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

/// An address of IPv4 or IPv6; one of IPv4 within IPv6 (`::ffff:127.0.0.1`) is that of IPv4.
struct MachineAddress: Hashable, Sendable, CustomStringConvertible {
  /// 4 or 16, in the order of the network.
  let octets: [UInt8]
  /// Whether it was written as an address of IPv6 and is one of IPv4.
  let wasMapped: Bool

  /// Reads an address without brackets; nil for a name.
  init?(_ text: String) {
    var version4 = in_addr()
    var version6 = in6_addr()
    if inet_pton(AF_INET, text, &version4) == 1 {
      (octets, wasMapped) = (withUnsafeBytes(of: version4) { Array($0) }, false)
    } else if inet_pton(AF_INET6, text, &version6) == 1 {
      let all = withUnsafeBytes(of: version6) { Array($0) }
      wasMapped = all.starts(with: Self.mappedPrefix)
      octets = wasMapped ? Array(all[Self.mappedPrefix.count...]) : all
    } else {
      return nil
    }
  }

  private static let mappedPrefix: [UInt8] = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF]

  var isVersion6: Bool { octets.count == 16 }
  /// Whoever connects to it connects to this machine.
  var isLoopback: Bool { isVersion6 ? octets.dropLast().allSatisfy { $0 == 0 } && octets[15] == 1 : octets[0] == 127 }
  /// `0.0.0.0`, `::`: who listens there listens everywhere, and who connects there connects to this machine.
  var isUnspecified: Bool { octets.allSatisfy { $0 == 0 } }

  /// Whether a server that listens here takes connections to `other` too. `::` is for both versions on Linux.
  func standsFor(_ other: MachineAddress) -> Bool { isUnspecified && (isVersion6 || !other.isVersion6) }

  static func == (left: MachineAddress, right: MachineAddress) -> Bool { left.octets == right.octets }
  func hash(into hasher: inout Hasher) { hasher.combine(octets) }

  var description: String {
    var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
    let family = isVersion6 ? AF_INET6 : AF_INET
    guard inet_ntop(family, octets, &text, socklen_t(text.count)) != nil else { return "?" }
    return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }
}
