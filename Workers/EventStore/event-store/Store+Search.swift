import Clocks
import EventArchive
import EventGate
import EventLoop
import Nostr
import Storage

// When words are indexed: when nothing has come for a moment; when somebody searches, as far as he would wait; and one
// slice now and then when events keep coming and it has fallen far behind, so that it never stops for good.

extension Store {
  /// Seqs behind from which on indexing takes a turn although events wait.
  static let indexLagMaximum: Int64 = 65_536
  /// Transactions between two such turns.
  static let indexTurn: UInt64 = 8
  /// How long nothing must have come: whoever sends one run after the other leaves gaps in which the processors are
  /// free, and would wait for a slice that was begun in each.
  static let indexQuietMilliseconds: UInt64 = 250
  /// Events that are indexed while somebody waits for his search: some tenths of a second.
  static let catchUpEventCount = 10_000

  /// Whether the next chore is a slice of words.
  var isIndexingDue: Bool {
    guard archive.hasSearchWork else { return false }
    if gate.isIdle, EventLoop.process.now.milliseconds(since: arrivedAt) >= Self.indexQuietMilliseconds { return true }
    return archive.lastSeq - archive.searchedSeq > Self.indexLagMaximum && transactionCount % Self.indexTurn == 0
  }

  /// Comes back when it has been quiet for long enough.
  func awaitQuiet() {
    guard archive.hasSearchWork, gate.isIdle, !isWriting, !quietTimer.isSet else { return }
    quietTimer.set(afterMilliseconds: Self.indexQuietMilliseconds) { [unowned self] in pump() }
  }

  /// Indexes what is missing before a search, up to a bound. Where it fails the search continues with what there is.
  func catchUp(for filters: [Filter]) async {
    guard filters.contains(where: EventArchive.isSearch) else { return }
    var slices = Self.catchUpEventCount / EventArchive.indexEventCount
    while slices > 0, archive.hasSearchWork {
      slices -= 1
      do throws(StorageFault) { try await archive.indexSlice() } catch { return failed(error) }
    }
  }

  /// How many of the last seqs a search does not look at; nil when it looks at all, or there is no search.
  func unsearched(_ filters: [Filter]) -> Int64? {
    guard filters.contains(where: EventArchive.isSearch) else { return nil }
    let count = archive.lastSeq - archive.searchedSeq
    return count > 0 ? count : nil
  }
}
