internal import Addresses
public import Frames

/// Where the local relays of this Roost listen: no worker of this Roost may dial these addresses.
///
/// roostd derives the list from the configuration and puts it into the settings of the workers that dial or plan, as
/// `ownAddresses`: `["127.0.0.1:4869","[::1]:4869"]`. It covers the local relays of this machine only. A local relay
/// that is reached through a router, under its public name, is not recognised.
public struct OwnAddresses: Hashable, Sendable {
  private let addresses: Set<ListenAddress>

  /// Why an address is not used; the end of a sentence.
  public static let reason = "that is this Roost's own relay"
  /// The name of the entry in the settings.
  public static let entry = "ownAddresses"

  /// These addresses. Invalid texts are left out: roostd has checked them before.
  public init(_ texts: [String] = []) {
    var addresses: Set<ListenAddress> = []
    for text in texts {
      do throws(ListenAddressFault) { addresses.insert(try ListenAddress(text)) } catch { continue }
    }
    self.addresses = addresses
  }

  /// Whether the text of an address shows that it leads to one of them: the port is one of theirs, and the host is a
  /// loopback name, a loopback address, or the address of one of them.
  ///
  /// - Parameters:
  ///   - host: a name or an address, without brackets.
  ///   - port: the port to dial.
  public func includes(host: String, port: UInt16) -> Bool {
    guard addresses.contains(where: { $0.port == port }) else { return false }
    if let address = IPAddress(host)?.unmapped { return includes(address, port) }
    var name = host.lowercased()
    if name.hasSuffix(".") { name.removeLast() }
    // RFC 6761: resolvers answer these with loopback addresses.
    return name == "localhost" || name.hasSuffix(".localhost")
  }

  /// Whether a connection has led to one of them: as above, or from an address of this machine to the same address,
  /// which is how a program reaches a server on its own machine that listens at every address.
  ///
  /// - Parameters:
  ///   - peer: the address at the other end.
  ///   - port: the port at the other end.
  ///   - local: the address at this end.
  public func includes(peer: String, port: UInt16, local: String) -> Bool {
    guard let address = IPAddress(peer)?.unmapped, addresses.contains(where: { $0.port == port }) else { return false }
    return includes(address, port) || address == IPAddress(local)?.unmapped
  }

  private func includes(_ address: IPAddress, _ port: UInt16) -> Bool {
    address.scope == .loopback || address.isUnspecified || addresses.contains { $0.port == port && $0.host == address }
  }
}

extension RefusalCode {
  /// The relay belongs to this Roost: see ``OwnAddresses``.
  public static let ownRelay: RefusalCode = "own-relay"
}
