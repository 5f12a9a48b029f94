import Bus
import Contracts
import EventArchive
import EventLoop
import Frames
import Logging
import Nostr
import Storage
import WorkerKit

/// What callers read of the archive: in turn, after the words that they search for are indexed.
@EventLoopActor
final class ArchiveReads {
  let archive: EventArchive
  let health: StoreHealth

  private let bus: BusConnection
  private let log: Logger
  private let slots = ReadSlots()
  /// Of the slots, those for counts, each of which reads all that it counts at once.
  private let countSlots = ReadSlots(count: 2)

  /// Events indexed while a search waits: some tenths of a second.
  private static let catchUpEventCount = 10_000

  init(_ archive: EventArchive, _ health: StoreHealth, _ bus: BusConnection, _ log: Logger) {
    (self.archive, self.health, self.bus, self.log) = (archive, health, bus, log)
  }

  /// Most bytes of a frame's payload.
  var frameLimit: Int { bus.welcome.frameLimit }

  /// Reads, in turn (``ReadSlots/read(for:_:)``).
  ///
  /// - Throws: why the archive cannot be read, in the caller's words.
  func read<Value: Sendable>(
    for use: ReadSlots.Use? = nil, _ body: @EventLoopActor () async throws(StorageFault) -> Value
  ) async throws(Refusal) -> Value {
    do throws(StorageFault) { return try await slots.read(for: use, body) } catch {
      health.failed(error)
      throw health.refusal(error)
    }
  }

  /// The same for what reads all that matches: only few of these read at once.
  func measured<Value: Sendable>(
    _ body: @EventLoopActor () async throws(StorageFault) -> Value
  ) async throws(Refusal) -> Value {
    try await countSlots.read { () throws(Refusal) in try await read(body) }
  }

  /// Most bytes of one event, and what is around it, in a frame of today's `frame-limit`: the event may have come in a
  /// larger frame.
  var partByteMaximum: Int { frameLimit - FrameHeader.lengthMinimum }

  /// An answer leaves out an event that no frame can carry, instead of ending there.
  func noteLeftOut(byteCount: Int, seq: Int64?) {
    log.warning(
      "left out of an answer: too large for frame-limit",
      metadata: ["seq": "\(seq ?? 0)", "bytes": "\(byteCount)", "maximum": "\(partByteMaximum)"])
  }

  // MARK: Words

  /// Before a search: indexes words that are not indexed yet, up to a bound. When that fails, the search finds what is
  /// indexed.
  func catchUp(for filters: [Filter]) async {
    guard filters.contains(where: EventArchive.isSearch) else { return }
    var slices = Self.catchUpEventCount / EventArchive.indexEventCount
    while slices > 0, archive.hasSearchWork {
      slices -= 1
      do throws(StorageFault) { try await archive.indexSlice() } catch { return health.failed(error) }
    }
  }

  /// How many of the last seqs a search does not look at; nil when it looks at all, or no filter is a search.
  func unsearched(_ filters: [Filter]) -> Int64? {
    guard filters.contains(where: EventArchive.isSearch) else { return nil }
    let count = archive.lastSeq - archive.searchedSeq
    return count > 0 ? count : nil
  }
}
