internal import Addresses
public import Frames

/// Where the local relays of this Roost listen: addresses that nobody here may dial.
///
/// roostd derives it from the configuration and puts it into the settings of whoever dials or plans, as `ownAddresses`:
/// `["127.0.0.1:4869","[::1]:4869"]`. Every program of this machine that is asked for is meant, not those of another:
/// a local relay behind a router, dialled by its public name, is not recognised.
public struct OwnAddresses: Hashable, Sendable {
  private let addresses: Set<ListenAddress>

  /// Why an address is left alone; a sentence's end.
  public static let reason = "that is this Roost's own relay"
  /// The entry of the settings.
  public static let entry = "ownAddresses"

  /// These addresses. What is none is left out: roostd has read them before.
  public init(_ texts: [String] = []) {
    var addresses: Set<ListenAddress> = []
    for text in texts {
      do throws(ListenAddressFault) { addresses.insert(try ListenAddress(text)) } catch { continue }
    }
    self.addresses = addresses
  }

  /// Whether an address leads to one of them, as far as its text tells: the port is one of theirs, and the host this
  /// machine, by whatever loopback name or address, or the very address of one.
  ///
  /// - Parameters:
  ///   - host: a name or an address, without brackets.
  ///   - port: where it is dialled.
  public func includes(host: String, port: UInt16) -> Bool {
    guard addresses.contains(where: { $0.port == port }) else { return false }
    if let address = IPAddress(host)?.unmapped { return includes(address, port) }
    var name = host.lowercased()
    if name.hasSuffix(".") { name.removeLast() }
    // RFC 6761: resolvers answer these with loopback addresses.
    return name == "localhost" || name.hasSuffix(".localhost")
  }

  /// Whether a connection has led to one of them: besides the above, one from an address of this machine to the same
  /// address, which is how somebody reaches himself who listens everywhere.
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
  /// The relay is this Roost's own: see ``OwnAddresses``.
  public static let ownRelay: RefusalCode = "own-relay"
}
