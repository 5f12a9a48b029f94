/// What became of a request. Each has exactly one outcome.
public enum HTTP2Outcome: Sendable, Hashable {
  /// The origin has answered, whatever it said.
  case answered(HTTP2Answer)
  /// The origin has surely not acted on it: it may be sent again.
  case notSent(HTTP2NotSent)
  /// The origin may have acted on it, and has not said so.
  case unknown(HTTP2Doubt)
}

/// An origin's answer.
public struct HTTP2Answer: Sendable, Hashable {
  /// Bytes of a body that are kept.
  public static let bodyByteCountMaximum = 65_536

  /// 200 to 599.
  public var status: Int
  /// Without the pseudo-headers and without trailers.
  public var headers: [HTTP2Header]
  /// The body, or its beginning.
  public var body: [UInt8]
  /// Whether more was coming than is kept; the rest was not waited for.
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

/// Why a request was surely not acted on.
public enum HTTP2NotSent: Sendable, Hashable {
  /// The request itself cannot be sent, as these words say.
  case malformed(String)
  /// So many wait already that no other may.
  case queueFull
  /// No connection could be had, for this reason; none is tried for so many milliseconds.
  case unreachable(reason: String, retryAfterMilliseconds: UInt64)
  /// The origin's name leads where the sender's owner does not want it to go.
  case forbidden(String)
  /// The origin refused the stream (REFUSED_STREAM), or left it behind as it said goodbye (GOAWAY), twice in a row.
  case refused
  /// Its time was over before a stream was free.
  case timedOut
  /// The sender is closed.
  case closed
}

/// Why nobody knows whether a request was acted on.
public enum HTTP2Doubt: Sendable, Hashable {
  /// Its time was over before the answer was whole.
  case timedOut
  /// The origin reset the stream with this code (RFC 9113, 7).
  case reset(code: UInt32)
  /// The connection was lost, for this reason.
  case connectionLost(String)
}
