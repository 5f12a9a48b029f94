public import Frames

// `supervisor.record`: writes the messages between a worker and the hub into a file. docs/recordings.md describes it.

/// `supervisor.record`: answered when the recording has ended, with parts (``RecordProgress``) before.
///
/// Only for clients of the supervisor's own user, because the file is made with the supervisor's rights.
public struct RecordRequest: MethodArguments {
  /// An example of the arguments.
  public static let example =
    #"{"worker":"signer","path":"/tmp/signer.recording","restart":false,"milliseconds":10000,"bytes":1048576,"#
    + #""ends":false}"#

  /// The worker's name.
  public var worker: String
  /// The file to create, an absolute path at which nothing exists yet; absent: a file in the state directory.
  public var path: String?
  /// Whether the worker is restarted first, so that the recording begins with HELLO.
  public var restart: Bool?
  /// How long the recording lasts, counted from its first frame; absent: until a request ends it.
  public var milliseconds: UInt64?
  /// The maximum size of the file; absent: 64 MiB. Limited to between 256 KiB and 256 MiB.
  public var bytes: Int?
  /// True ends the worker's current recording; all other members are then left out.
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

/// A part of the answer to ``RecordRequest``: the state of the recording.
public struct RecordProgress: Codable, Sendable {
  /// The file.
  public var path: String
  /// Whether frames are being recorded; false while the recording waits for the worker's next start.
  public var isRecording: Bool

  /// A state of the recording.
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
  /// Frames to the worker in the file.
  public var framesToWorker: UInt64
  /// Frames from the worker in the file.
  public var framesFromWorker: UInt64
  /// Frames that are missing because the disk did not take them in time.
  public var framesMissing: UInt64
  /// Why it ended: `asked`, `time`, `size`, `connection` or `disk`.
  public var reason: String
  /// The same in a sentence.
  public var sentence: String
  /// Whether the file begins with HELLO and has every frame since, so that it can be replayed.
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
  /// may leave it out: then it counts as secret when the worker serves any secret method.
  public func isSecret(_ header: FrameHeader, isFromWorker: Bool, servesSecrets: Bool) -> Bool {
    if let entry = self[header.method] { return entry.isSecret }
    guard isFromWorker, servesSecrets else { return false }
    return switch header.type {
    case .response, .error, .progress, .nack: true
    default: false
    }
  }
}
