internal import CLibUV

/// A failure of the operating system, as libuv reported it.
public struct LoopFault: Error, Sendable, Equatable, CustomStringConvertible {
  /// libuv's error number: a negated errno.
  public let code: Int32
  /// The operation that failed, and its subject: `connect to 127.0.0.1 port 7777`.
  public let doing: String

  /// A failure with this number during this operation.
  public init(code: Int32, doing: String) {
    self.code = code
    self.doing = doing
  }

  /// The short name of the number, such as `ECONNREFUSED`.
  public var name: String { String(cString: uv_err_name(code)) }
  /// `connect to 127.0.0.1 port 7777: connection refused (ECONNREFUSED)`.
  public var description: String { "\(doing): \(String(cString: uv_strerror(code))) (\(name))" }

  /// Whether the machine lacks the address, or its whole family: IPv6 may be switched off.
  public var hasNoSuchAddress: Bool { code == UV_EADDRNOTAVAIL.rawValue || code == UV_EAFNOSUPPORT.rawValue }

  /// Whether the kernel denies the operation to this user.
  public var isForbidden: Bool { code == UV_EACCES.rawValue || code == UV_EPERM.rawValue }

  static func check(_ status: Int32, _ doing: @autoclosure () -> String) throws(LoopFault) {
    if status < 0 { throw LoopFault(code: status, doing: doing()) }
  }
}
