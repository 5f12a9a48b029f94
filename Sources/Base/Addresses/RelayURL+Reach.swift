// Which addresses lead to the internet, and which to this machine or its neighbours.
//
// Programs that read a stranger's published list of relays dial the relays on it. Without a rule, the author could make
// every reader connect to `ws://192.168.1.1/reboot`, and learn from the response time what is there. So an address
// named by others is used only if it is public. Here a name is judged by its text; where it leads is known only after
// it was resolved, and then the dialling program checks the result against the same table (`AddressScope`).

extension RelayURL {
  /// Whether the address can be a relay on the public internet, judged by its text: a public IP address, or a name with
  /// a dot that belongs neither to a local network nor to another network (`.onion`).
  public var isPublic: Bool {
    if let address = IPAddress(host) { return address.scope == .global }
    let labels = host.split(separator: ".")
    guard labels.count > 1, let last = labels.last else { return false }
    return !Self.localDomains.contains(String(last)) && !host.hasSuffix(".home.arpa")
  }

  /// Last labels of names that no public name server knows (RFC 6761, 6762, 7686, 9476, and labels in use at home).
  private static let localDomains: Set<String> = [
    "alt", "corp", "home", "i2p", "internal", "intranet", "invalid", "lan", "local", "localdomain",
    "localhost", "onion", "private", "test",
  ]
}
