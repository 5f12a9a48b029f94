/// What a sender has done since it was made.
public struct HTTP2SenderCounters: Sendable, Hashable {
  /// Connections begun.
  public var connectsBegun = 0
  /// Connections that could not be had.
  public var connectsFailed = 0
  /// TLS handshakes completed.
  public var handshakes = 0
  /// Streams opened.
  public var streamsOpened = 0
  /// Answers that came whole.
  public var answers = 0
  /// Streams that the origin has reset.
  public var resets = 0
  /// Requests that were sent a second time.
  public var resent = 0
  /// GOAWAY frames that came.
  public var goAways = 0
  /// PINGs sent.
  public var pings = 0
  /// Requests that wait for a stream now.
  public var waiting = 0
  /// Requests whose answer is awaited now.
  public var inFlight = 0
  /// Why the last connection ended, or could not be had; printable, at most 200 characters.
  public var lastEnd: String?

  /// Nothing yet.
  public init() {}
}
