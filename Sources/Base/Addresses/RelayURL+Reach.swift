// Which addresses lead out into the internet, and which to this machine or its neighbours.
//
// A list of relays that a stranger has published is dialled by whoever reads it. Without a rule he could have every
// reader knock at `ws://192.168.1.1/reboot`, and learn from the time it takes what is there. So an address that was
// named by others is used only if it is public. A name is judged here by its looks; where it leads is known when it has
// been looked up, and whoever dials holds the result against the same table once more (`AddressScope`).

extension RelayURL {
  /// Whether the address can be a relay of the public internet, as far as its text tells: a name with a dot that is not
  /// of a local network or of another network (`.onion`), or a public IP address.
  public var isPublic: Bool {
    if let address = IPAddress(host) { return address.scope == .global }
    let labels = host.split(separator: ".")
    guard labels.count > 1, let last = labels.last else { return false }
    return !Self.localDomains.contains(String(last)) && !host.hasSuffix(".home.arpa")
  }

  /// Last labels of names that no public name server knows (RFC 6761, 6762, 7686, 9476, and those in use at home).
  private static let localDomains: Set<String> = [
    "alt", "corp", "home", "i2p", "internal", "intranet", "invalid", "lan", "local", "localdomain",
    "localhost", "onion", "private", "test",
  ]
}
