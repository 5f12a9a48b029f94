internal import Bus
public import Contracts
public import Frames
internal import Glibc
internal import LinuxSystem

extension RoostClient {
  /// The maximum number of bytes of events in one call of ``importEvents(_:)``: the contents of a frame of the default
  /// limit.
  public nonisolated static let importByteCountMaximum = FrameReader.defaultLengthMaximum - FrameHeader.lengthMinimum

  /// Stores events that were collected elsewhere, over the bulk lane: events that are published meanwhile have
  /// priority.
  ///
  /// Each event is verified. An event that is already stored costs almost nothing, so a repeat after a lost connection
  /// does no harm, and this method repeats automatically.
  ///
  /// - Parameter events: each the JSON of one event, in the bytes that were signed. Together at most
  ///   ``importByteCountMaximum``, with 24 bytes added for each, and each at most ``eventByteCountMaximum``. A caller
  ///   with more events makes several calls at a time; four calls at once keep the store busy.
  /// - Returns: the outcomes, when all events that count as stored are committed. `record` in it is the index in
  ///   `events`.
  /// - Throws: `disk-full`, without any loss; `bad-request` for more events than one call may have.
  public func importEvents(_ events: [some Collection<UInt8>]) async throws(Refusal) -> IngestResult {
    var run: [UInt8] = []
    let now = WallClock.nanoseconds
    for event in events { IngestRecord.append(.event, receivedNanoseconds: now, event, to: &run) }
    guard events.count <= IngestRecord.countMaximum, run.count <= Self.importByteCountMaximum else {
      throw Refusal(
        .badRequest, "\(events.count) events of \(run.count) bytes are more than are taken at once",
        outcome: .notStarted)
    }
    return try await request(
      StoreMethod.import, IngestRun(run), options: .idempotent())
  }
}
