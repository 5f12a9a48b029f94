/// What a sender has done since it was made, and what it does now.
public struct HTTP2SenderCounters: Sendable, Hashable {
  /// Connections begun.
  public var connectsBegun = 0
  /// Connections that could not be made.
  public var connectsFailed = 0
  /// TLS handshakes completed.
  public var handshakes = 0
  /// Streams opened.
  public var streamsOpened = 0
  /// Answers that arrived complete.
  public var answers = 0
  /// Streams that the origin has reset.
  public var resets = 0
  /// Requests that were sent a second time.
  public var resent = 0
  /// GOAWAY frames received.
  public var goAways = 0
  /// PINGs sent.
  public var pings = 0
  /// Requests that wait for a stream at present.
  public var waiting = 0
  /// Requests in flight at present.
  public var inFlight = 0
  /// Why the last connection ended, or could not be made; printable, at most 200 characters.
  public var lastEnd: String?

  /// All counters at 0.
  public init() {}
}
