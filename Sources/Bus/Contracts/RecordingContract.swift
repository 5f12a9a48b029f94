public import Frames

// `supervisor.record`: what passes between a worker and the hub, into a file. docs/recordings.md says what is in it.

/// `supervisor.record`: answered when the recording has ended, with parts (``RecordProgress``) before.
///
/// Only for clients of the supervisor's own user: the file is made with the supervisor's rights.
public struct RecordRequest: MethodArguments {
  /// How it is asked.
  public static let example =
    #"{"worker":"signer","path":"/tmp/signer.recording","restart":false,"milliseconds":10000,"bytes":1048576,"#
    + #""ends":false}"#

  /// The worker's name.
  public var worker: String
  /// The file to be made, an absolute path at which nothing is yet; absent: one in the state directory.
  public var path: String?
  /// Whether the worker is restarted for it, so that the recording begins with HELLO.
  public var restart: Bool?
  /// How long it goes on, counted from its first frame; absent: until somebody ends it.
  public var milliseconds: UInt64?
  /// The size that the file never passes; absent: 64 MiB. Kept between 256 KiB and 256 MiB.
  public var bytes: Int?
  /// True ends the worker's recording that is under way; all else is left out then.
  public var ends: Bool?

  /// A request for a recording.
  public init(
    worker: String, path: String? = nil, restart: Bool? = nil, milliseconds: UInt64? = nil, bytes: Int? = nil,
    ends: Bool? = nil
  ) {
    self.worker = worker
    self.path = path
    self.restart = restart
    self.milliseconds = milliseconds
    self.bytes = bytes
    self.ends = ends
  }
}

/// A part of the answer to ``RecordRequest``: how far it is.
public struct RecordProgress: Codable, Sendable {
  /// The file.
  public var path: String
  /// Whether frames are being recorded; false while the worker's next start is awaited.
  public var isRecording: Bool

  /// A step.
  public init(path: String, isRecording: Bool) {
    self.path = path
    self.isRecording = isRecording
  }
}

/// The terminal answer to ``RecordRequest``.
public struct RecordResult: Codable, Sendable {
  /// The worker.
  public var worker: String
  /// The file.
  public var path: String
  /// Its size.
  public var bytes: Int
  /// Frames to the worker in it.
  public var framesToWorker: UInt64
  /// Frames from the worker in it.
  public var framesFromWorker: UInt64
  /// Frames that are missing because the disk did not take them in time.
  public var framesMissing: UInt64
  /// Why it ended: `asked`, `time`, `size`, `connection` or `disk`.
  public var reason: String
  /// The same in a sentence.
  public var sentence: String
  /// Whether it begins with HELLO and has every frame since: whether it can be replayed.
  public var isReplayable: Bool

  /// A result.
  public init(
    worker: String, path: String, bytes: Int, framesToWorker: UInt64, framesFromWorker: UInt64, framesMissing: UInt64,
    reason: String, sentence: String, isReplayable: Bool
  ) {
    self.worker = worker
    self.path = path
    self.bytes = bytes
    self.framesToWorker = framesToWorker
    self.framesFromWorker = framesFromWorker
    self.framesMissing = framesMissing
    self.reason = reason
    self.sentence = sentence
    self.isReplayable = isReplayable
  }
}

extension AccessTable {
  /// Whether a frame's payload must not be written anywhere.
  ///
  /// The hub writes the method into every frame it passes on, and a caller must name it in a request. A worker's answer
  /// may leave it out: then it counts as secret when the worker serves anything that is.
  public func isSecret(_ header: FrameHeader, isFromWorker: Bool, servesSecrets: Bool) -> Bool {
    if let entry = self[header.method] { return entry.isSecret }
    guard isFromWorker, servesSecrets else { return false }
    return switch header.type {
    case .response, .error, .progress, .nack: true
    default: false
    }
  }
}
