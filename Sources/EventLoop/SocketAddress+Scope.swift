internal import Addresses

extension SocketAddress {
  /// Whether only this machine reaches it.
  public var isLoopback: Bool { address.scope == .loopback }

  /// Whether it may be dialled on the word of other people: whether it leads to the internet.
  public var isOpenToStrangers: Bool { address.scope == .global }

  /// `192.168.1.5, a private address`.
  public var hostWithScope: String {
    let scope = address.scope
    return "\(host), \(scope == .unspecified ? "an" : "a") \(scope.rawValue) address"
  }
}
