/// Why a request has no answer.
public enum ConnectionFault: Hashable, Sendable, CaseIterable {
  /// No address, or nobody there.
  case unreachable
  /// The other side is not who it should be, or speaks no TLS.
  case insecure
  /// Nothing came in time. Whether it was taken nobody knows.
  case timedOut
  /// The connection ended in the middle. Whether it was taken nobody knows.
  case broken
  /// The other side says that it has not looked at it: a stream above GOAWAY's last, or REFUSED_STREAM.
  case notProcessed
}
