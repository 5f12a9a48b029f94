public import EventLoop

/// Why there is no connection, or why it does not accept a message.
public struct WebSocketFault: Error, Sendable, Equatable, CustomStringConvertible {
  /// What went wrong, for programs.
  public enum Code: String, Sendable {
    /// The host's name could not be looked up, in time or at all.
    case nameLookup = "name-lookup"
    /// The host has no global address, and only such addresses may be dialled.
    case privateAddress = "private-address"
    /// The connection leads to a place that the caller objects to.
    case unwantedAddress = "unwanted-address"
    /// No address of the host accepted the connection.
    case unreachable
    /// The connection is open, but the other side did not answer in time.
    case timedOut = "timed-out"
    /// The connection ended during the upgrade.
    case cut
    /// The server's answer was not a WebSocket; see ``WebSocketFault/refusal``.
    case upgradeRefused = "upgrade-refused"
    /// `wss` was requested, and the caller gave no encryption.
    case noEncryption = "no-encryption"
    /// The certificate or the TLS handshake was not good.
    case tls
    /// The task was cancelled.
    case cancelled
    /// A request that cannot be written, such as a header with a line break.
    case badRequest = "bad-request"
    /// More bytes wait to be sent than ``WebSocketLimits/pendingByteCountMaximum`` allows; nothing was added.
    case outputFull = "output-full"
    /// The connection is over, or its close has begun.
    case closed
  }

  /// What went wrong.
  public let code: Code
  /// The other side: `wss://relay.example.com:443/`.
  public let endpoint: String
  /// What was seen, as the end of a sentence.
  public let detail: String
  /// The error of the operating system, if it reported one.
  public let cause: LoopFault?
  /// The server's answer, if there was one.
  public let refusal: UpgradeRefusal?

  /// How long the server asks for no further attempt (`Retry-After`, in seconds only), if it does.
  public var retryAfterMilliseconds: UInt64? {
    guard case .status(_, _, let seconds?)? = refusal else { return nil }
    return UInt64(seconds) * 1_000
  }

  /// A fault with an endpoint.
  public init(
    _ code: Code, endpoint: String, detail: String, cause: LoopFault? = nil, refusal: UpgradeRefusal? = nil
  ) {
    self.code = code
    self.endpoint = endpoint
    self.detail = detail
    self.cause = cause
    self.refusal = refusal
  }

  /// `wss://relay.example.com:443/: the server answered 503 (Service Unavailable)`.
  public var description: String { "\(endpoint): \(detail)" }
}

/// How a connection ended.
public enum WebSocketEnd: Sendable, Equatable, CustomStringConvertible {
  /// The other side sent a close frame. Code 1005 when it named none; the reason is its text, at most 123 bytes.
  case closedByPeer(code: UInt16, reason: String)
  /// ``WebSocketConnection/close(code:reason:)`` is complete: answered, or not answered in time.
  case closed(code: UInt16)
  /// The stream ended without a close frame.
  case endOfStream
  /// The operating system ended the stream.
  case failed(LoopFault)
  /// The other side broke RFC 6455, RFC 7692 or a limit; it received `code`.
  case violation(code: UInt16)
  /// Neither a pong nor anything else arrived for this long after a ping.
  case unresponsive(milliseconds: UInt64)

  /// `closed by the other side: 1001 (going away)`.
  public var description: String {
    switch self {
    case .closedByPeer(let code, let reason):
      "closed by the other side: \(code) (\(reason.isEmpty ? Self.meaning(of: code) : reason))"
    case .closed(let code): "closed by us: \(code)"
    case .endOfStream: "the stream ended without a close frame"
    case .failed(let fault): "\(fault)"
    case .violation(let code): "cut by us: \(Self.meaning(of: code))"
    case .unresponsive(let milliseconds): "no answer to a ping within \(milliseconds) ms"
    }
  }

  private static func meaning(of code: UInt16) -> String {
    switch code {
    case 1000: "normal closure"
    case 1001: "going away"
    case 1002: "a violation of the WebSocket protocol"
    case 1003: "unacceptable data"
    case 1005: "no code given"
    case 1007: "text that is not UTF-8"
    case 1008: "a violation of policy"
    case 1009: "a message over the limit"
    case 1011: "an internal error"
    case 1013: "too much at once, for now"
    default: "code \(code)"
    }
  }
}
