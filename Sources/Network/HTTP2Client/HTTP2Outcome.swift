/// The outcome of a request. Each request has exactly one.
public enum HTTP2Outcome: Sendable, Hashable {
  /// The origin has answered, whatever it said.
  case answered(HTTP2Answer)
  /// The origin has certainly not acted on it: it may be sent again.
  case notSent(HTTP2NotSent)
  /// The origin may have acted on it, and did not say whether.
  case unknown(HTTP2Doubt)
}

/// An origin's answer.
public struct HTTP2Answer: Sendable, Hashable {
  /// The maximum of bytes of a body that are kept.
  public static let bodyByteCountMaximum = 65_536

  /// 200 to 599.
  public var status: Int
  /// Without the pseudo-headers and without trailers.
  public var headers: [HTTP2Header]
  /// The body, or its beginning.
  public var body: [UInt8]
  /// Whether the body is longer than what is kept; the sender did not wait for the rest.
  public var isBodyCut: Bool

  /// An answer.
  public init(status: Int, headers: [HTTP2Header] = [], body: [UInt8] = [], isBodyCut: Bool = false) {
    self.status = status
    self.headers = headers
    self.body = body
    self.isBodyCut = isBodyCut
  }

  /// The first value of a header, by its name in lower case.
  public func header(_ name: String) -> String? { headers.first { $0.name == name }?.value }
}

/// Why a request was certainly not acted on.
public enum HTTP2NotSent: Sendable, Hashable {
  /// The request itself cannot be sent, for this reason.
  case malformed(String)
  /// The maximum number of requests wait already.
  case queueFull
  /// No connection could be made, for this reason; the next attempt is in this many milliseconds.
  case unreachable(reason: String, retryAfterMilliseconds: UInt64)
  /// The sender's owner forbids the target of the origin's name.
  case forbidden(String)
  /// The origin refused the stream (REFUSED_STREAM), or left it out when it said goodbye (GOAWAY), and the sender does
  /// not send the request again: by default, after the second time.
  case refused
  /// Its time ended before a stream was free.
  case timedOut
  /// The sender is closed.
  case closed
}

/// Why it is not known whether a request was acted on.
public enum HTTP2Doubt: Sendable, Hashable {
  /// Its time ended before the answer was complete.
  case timedOut
  /// The origin reset the stream with this code (RFC 9113, 7).
  case reset(code: UInt32)
  /// The connection was lost, for this reason.
  case connectionLost(String)
}
