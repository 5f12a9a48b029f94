/// Why a request has no answer.
public enum ConnectionFault: Hashable, Sendable, CaseIterable {
  /// No address, or no server at it.
  case unreachable
  /// The certificate does not belong to the server's name, or the server does not speak TLS.
  case insecure
  /// No answer in time. It is unknown whether the request was accepted.
  case timedOut
  /// The connection ended in the middle. It is unknown whether the request was accepted.
  case broken
  /// The server reports that it did not process the request: a stream above GOAWAY's last, or REFUSED_STREAM.
  case notProcessed
}
