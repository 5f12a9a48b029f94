internal import CLibUV

/// A failure of the operating system, as libuv reported it.
public struct LoopFault: Error, Sendable, Equatable, CustomStringConvertible {
  /// libuv's error number: a negated errno.
  public let code: Int32
  /// What was being done, and with what: `connect to 127.0.0.1 port 7777`.
  public let doing: String

  /// A failure with this number while doing this.
  public init(code: Int32, doing: String) {
    self.code = code
    self.doing = doing
  }

  /// The number's short name, such as `ECONNREFUSED`.
  public var name: String { String(cString: uv_err_name(code)) }
  /// `connect to 127.0.0.1 port 7777: connection refused (ECONNREFUSED)`.
  public var description: String { "\(doing): \(String(cString: uv_strerror(code))) (\(name))" }

  /// The machine has no such address, or nothing of its kind: IPv6 may be switched off.
  public var hasNoSuchAddress: Bool { code == UV_EADDRNOTAVAIL.rawValue || code == UV_EAFNOSUPPORT.rawValue }

  /// The kernel does not allow it to this user.
  public var isForbidden: Bool { code == UV_EACCES.rawValue || code == UV_EPERM.rawValue }

  static func check(_ status: Int32, _ doing: @autoclosure () -> String) throws(LoopFault) {
    if status < 0 { throw LoopFault(code: status, doing: doing()) }
  }
}
