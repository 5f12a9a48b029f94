public import Frames

/// The result of a replay.
public struct ReplayReport: Sendable {
  /// The result in one word.
  public enum Outcome: String, Sendable {
    /// All recorded frames came again.
    case identical
    /// A different frame came, or no more frames can come.
    case different
    /// An expected frame did not come in time.
    case timedOut = "timed-out"
  }
  /// The result in one word.
  public var outcome = Outcome.identical
  /// Frames in the recording.
  public var frameCount = 0
  /// Frames that were sent to the program.
  public var playedCount = 0
  /// Frames of the program that agree with the recording.
  public var comparedCount = 0
  /// Frames of the program without a counterpart, because the recording ended before them.
  public var beyondCount = 0
  /// The first difference, or the frame that did not come.
  public var difference: ReplayDifference?

  /// An empty report.
  public init() {}
}

/// A place where a replay differs from its recording.
public struct ReplayDifference: Sendable {
  /// A frame that the program sent.
  public struct Frame: Sendable {
    /// Its header.
    public var header: FrameHeader
    /// Its payload.
    public var payload: [UInt8]
  }
  /// The number of the frame in the recording, from 1, as `roost recording show` counts them.
  public var frame: Int
  /// That frame; nil when the program sent a frame that is not in the recording.
  public var expected: RecordedFrame?
  /// What the program sent instead; nil when it sent nothing.
  public var got: Frame?
  /// The difference in words.
  public var reason: String

  /// A difference at the frame with this number.
  public init(frame: Int, expected: RecordedFrame?, got: Frame?, reason: String) {
    self.frame = frame
    self.expected = expected
    self.got = got
    self.reason = reason
  }
}

extension FrameType {
  /// Its name in the notation of the protocol's page.
  public var word: String { "\(self)".uppercased() }
}
