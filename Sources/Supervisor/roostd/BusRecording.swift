import Clocks
import Contracts
import EventLoop
import Frames
import LinuxSystem
import Logs
import Recordings

/// One recording of one worker, from the request for it to its last byte.
///
///     opening ──file made──► waiting ──connected──► recording ──► ended
///                               └───────────────────────────────────┘
///
/// A recording covers one connection: its worker's present one, or, when it is asked for that or without a present one,
/// the next, from HELLO on. It gets each frame where the hub does, and never holds the hub up: what the file does
/// not take is counted and told in the file. It ends itself, by `end`, for whatever reason comes first.
@EventLoopActor
final class BusRecording {
  let worker: String
  let path: String
  /// Called once, when the last byte is written.
  var onEnd: (@EventLoopActor (RecordResult?) -> Void)?
  /// Called when the first frame may come.
  var onBegin: (@EventLoopActor () -> Void)?

  private let file: RecordingFile
  private var writer: RecordingWriter
  private let table: @EventLoopActor () -> AccessTable
  private let milliseconds: UInt64?
  private let timer = LoopTimer()
  private var startedAt: Instant?
  private var servesSecrets = false
  private var isFromStart = false
  private(set) var hasEnded = false
  private var isCreated = false
  /// The life of the worker that is not meant: it is being restarted.
  var skippedGeneration: UInt32?

  /// Most recordings at once, of all workers.
  static let countMaximum = 8

  init(_ request: RecordRequest, path: String, table: @escaping @EventLoopActor () -> AccessTable) {
    worker = request.worker
    self.path = path
    self.table = table
    milliseconds = request.milliseconds
    file = RecordingFile(path: path)
    writer = RecordingWriter(byteCountMaximum: request.bytes ?? RecordingWriter.defaultByteCountMaximum)
  }

  /// Whether frames are being recorded.
  var isRecording: Bool { startedAt != nil && !hasEnded }

  /// Whether the file is there and the worker's next connection is awaited.
  var isWaiting: Bool { isCreated && startedAt == nil && !hasEnded }

  /// Makes the file.
  func create(ensuring directory: String?) async throws(SystemFault) {
    try await file.create(ensuring: directory)
    isCreated = true
    file.onFault = { [weak self] fault in self?.failed(fault) }
  }

  /// Removes the file again: it was made for a recording that had ended meanwhile.
  func discard() { EventLoopActor.task { [file] in await file.discard() } }

  // MARK: What happens

  /// The worker's connection is there, and what passes over it from now on is recorded.
  func begin(_ opening: RecordingOpening, servesSecrets: Bool) {
    guard isWaiting else { return }
    startedAt = EventLoop.process.now
    isFromStart = opening.isFromStart
    self.servesSecrets = servesSecrets
    file.append(writer.open(opening))
    if let milliseconds {
      timer.set(afterMilliseconds: milliseconds) { [weak self] in
        self?.end(RecordingEnd(.time, "its \(milliseconds) ms were over"))
      }
    }
    onBegin?()
  }

  /// A frame passed.
  func record(_ direction: RecordedFrame.Direction, _ header: FrameHeader, _ payload: UnsafeRawBufferPointer) {
    guard isRecording else { return }
    guard file.hasRoom(for: FrameHeader.byteCount + payload.count) else {
      writer.missed()
      return
    }
    let isSecret = table().isSecret(header, isFromWorker: direction == .fromWorker, servesSecrets: servesSecrets)
    file.append(writer.append(direction, header, payload, isSecret: isSecret, nanoseconds: elapsed))
    // The file is full: the end is in it already.
    if writer.end != nil { close() }
  }

  /// Ends it; nothing happens when it has ended.
  func end(_ end: RecordingEnd) {
    guard !hasEnded else { return }
    if startedAt != nil { file.append(writer.finish(end, elapsed)) }
    close()
  }

  private func failed(_ fault: SystemFault) {
    guard !hasEnded else { return }
    close()
  }

  private var elapsed: UInt64 { startedAt.map { EventLoop.process.now.nanoseconds - $0.nanoseconds } ?? 0 }

  private func close() {
    hasEnded = true
    timer.cancel()
    EventLoopActor.task { [self] in
      guard startedAt != nil else {
        await file.discard()
        finished(nil)
        return
      }
      finished(result(await file.finish()))
    }
  }

  private func finished(_ result: RecordResult?) {
    let callback = onEnd
    onEnd = nil
    onBegin = nil
    callback?(result)
  }

  private func result(_ fault: SystemFault?) -> RecordResult {
    let end = writer.end
    return RecordResult(
      worker: worker, path: path, bytes: file.byteCount, framesToWorker: writer.toWorkerCount,
      framesFromWorker: writer.fromWorkerCount, framesMissing: writer.missingCount,
      reason: fault == nil ? end?.reason.rawValue ?? "asked" : "disk",
      sentence: fault.map { "the file stops early: \($0)" } ?? end?.text ?? "",
      isReplayable: isFromStart && writer.missingCount == 0 && fault == nil)
  }
}
