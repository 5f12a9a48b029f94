public import EventLoop

/// Why there is no connection, or why it does not take what was to be sent.
public struct WebSocketFault: Error, Sendable, Equatable, CustomStringConvertible {
  /// What went wrong, for programs.
  public enum Code: String, Sendable {
    /// The host's name could not be looked up, in time or at all.
    case nameLookup = "name-lookup"
    /// The host has no address of the internet, and only such are to be dialled.
    case privateAddress = "private-address"
    /// The connection led where whoever dials does not want to be.
    case unwantedAddress = "unwanted-address"
    /// No address of the host took the connection.
    case unreachable
    /// The connection stands but the other side said nothing in time.
    case timedOut = "timed-out"
    /// The connection ended during the upgrade.
    case cut
    /// The server answered, and not with a WebSocket; see ``WebSocketFault/refusal``.
    case upgradeRefused = "upgrade-refused"
    /// `wss` was asked for, and nobody was given to encrypt.
    case noEncryption = "no-encryption"
    /// The certificate or the TLS handshake was not good.
    case tls
    /// The task was cancelled.
    case cancelled
    /// A request that cannot be written, such as a header with a line break.
    case badRequest = "bad-request"
    /// More waits to be sent than ``WebSocketLimits/pendingByteCountMaximum`` allows; nothing was added.
    case outputFull = "output-full"
    /// The connection is over, or its close has begun.
    case closed
  }

  /// What went wrong.
  public let code: Code
  /// With whom: `wss://relay.example.com:443/`.
  public let endpoint: String
  /// A sentence's end: what was seen.
  public let detail: String
  /// What the operating system said, if it was asked.
  public let cause: LoopFault?
  /// What the server's answer was, if there was one.
  public let refusal: UpgradeRefusal?

  /// How long the server asked to be left alone (`Retry-After`, in seconds only), if it did.
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

/// How a connection came to its end.
public enum WebSocketEnd: Sendable, Equatable, CustomStringConvertible {
  /// The other side sent a close frame. Code 1005 when it named none; the reason is its text, at most 123 bytes.
  case closedByPeer(code: UInt16, reason: String)
  /// ``WebSocketConnection/close(code:reason:)`` came to its end: answered, or not answered in time.
  case closed(code: UInt16)
  /// The stream ended without a close frame.
  case endOfStream
  /// The operating system ended it.
  case failed(LoopFault)
  /// The other side broke RFC 6455, RFC 7692 or a limit; it was told `code`.
  case violation(code: UInt16)
  /// Neither a pong nor anything else came for so long after a ping.
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
