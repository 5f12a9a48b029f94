internal import CLinux
internal import Glibc

/// Reports our state to a service manager (`sd_notify`): one datagram to the address in `NOTIFY_SOCKET`.
///
/// The messages are lines such as `READY=1`, `STATUS=3 of 5 workers ready`, `STOPPING=1`, `WATCHDOG=1`,
/// `EXTEND_TIMEOUT_USEC=10000000`. Nothing here needs libsystemd.
public struct ServiceNotifier: Sendable {
  /// Longest address of a unix socket, in bytes.
  public static let addressByteCountMaximum = 107

  /// Path, or `@name` for the abstract namespace.
  public let address: String

  /// Takes the value of `NOTIFY_SOCKET`; nil if it is not set, which means that there is no service manager to notify.
  /// - Throws: `EAFNOSUPPORT` for an address that is neither an absolute path nor abstract, `ENAMETOOLONG` beyond 107
  ///   bytes.
  public init?(address: String?) throws(SystemFault) {
    guard let address, !address.isEmpty else { return nil }
    guard address.hasPrefix("/") || address.hasPrefix("@") else {
      throw SystemFault(
        call: "NOTIFY_SOCKET", subject: address, code: EAFNOSUPPORT,
        advice: "It must be an absolute path or begin with @.")
    }
    guard address.utf8.count <= Self.addressByteCountMaximum else {
      throw SystemFault(
        call: "NOTIFY_SOCKET", subject: address, code: ENAMETOOLONG, advice: "At most 107 bytes fit a socket's address."
      )
    }
    self.address = address
  }

  /// Sends lines, separated by line feeds, in one datagram. Never waits: if the service manager does not read, it
  /// misses them.
  public func send(_ lines: String) throws(SystemFault) {
    let bytes = Array(lines.utf8)
    try checked(
      roost_send_datagram(address, bytes, bytes.count), "sendto", address, "The service manager was not told.")
  }
}
