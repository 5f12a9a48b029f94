public import Frames

/// What came of a replay.
public struct ReplayReport: Sendable {
  /// In a word.
  public enum Outcome: String, Sendable {
    /// Everything recorded came again.
    case identical
    /// Something else came, or nothing more can come.
    case different
    /// Something did not come in time.
    case timedOut = "timed-out"
  }
  /// In a word.
  public var outcome = Outcome.identical
  /// Frames in the recording.
  public var frameCount = 0
  /// Frames that were sent to the program.
  public var playedCount = 0
  /// Frames of the program that were found as recorded.
  public var comparedCount = 0
  /// Frames of the program for which the recording has no counterpart because it ended before them.
  public var beyondCount = 0
  /// The first difference, or what was waited for.
  public var difference: ReplayDifference?

  /// Nothing has happened yet.
  public init() {}
}

/// Where a replay went another way than its recording.
public struct ReplayDifference: Sendable {
  /// A frame as the program sent it.
  public struct Frame: Sendable {
    /// Its header.
    public var header: FrameHeader
    /// Its payload.
    public var payload: [UInt8]
  }
  /// The number of the frame in the recording, from 1, as `roost recording show` counts them.
  public var frame: Int
  /// That frame; nil when the program sent something that is not in the recording at all.
  public var expected: RecordedFrame?
  /// What the program sent in its place; nil when nothing came.
  public var got: Frame?
  /// In what they differ, in words.
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
  /// Its name as the protocol's page writes it.
  public var word: String { "\(self)".uppercased() }
}
