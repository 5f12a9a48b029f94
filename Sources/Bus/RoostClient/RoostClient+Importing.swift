internal import Bus
public import Contracts
public import Frames
internal import Glibc
internal import LinuxSystem

extension RoostClient {
  /// Most bytes of events that ``importEvents(_:)`` takes at once: what a frame of the usual limit holds.
  public nonisolated static let importByteCountMaximum = FrameReader.defaultLengthMaximum - FrameHeader.lengthMinimum

  /// Stores events that were collected elsewhere, over the bulk lane: whatever one publishes meanwhile goes first.
  ///
  /// Each is verified. What is there already costs next to nothing, so doing it again after a lost connection does no
  /// harm, and is what this does by itself.
  ///
  /// - Parameter events: each the JSON of one event, as it was signed. Together at most ``importByteCountMaximum``,
  ///   with 24 bytes for each, and each at most ``eventByteCountMaximum``; whoever has more sends some runs at a time,
  ///   four at once keep the store busy.
  /// - Returns: what became of them, when all that is counted as stored is committed. `record` in it is the place in
  ///   `events`.
  /// - Throws: `disk-full`, of which nothing is lost; `bad-request` for more than is taken at once.
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
