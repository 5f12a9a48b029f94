internal import Cryptography
internal import EventIndex
internal import Nostr

/// What is known of the newest events without asking the database: their postings and ids, which are on disk only as
/// part of the events themselves.
///
/// A value: a reader takes a copy and has one state for the whole of its query; copies share what they have in common.
/// The writer gathers what it does as an ``ArchiveChange``, which is made here when its transaction has committed.
struct ArchiveMemory: Sendable {
  /// Events not yet in a segment, those of the segment that is just being written first.
  var generations: [Generation] = [Generation(firstSeq: 1)]
  /// Complete segments, by number.
  var segments: [Segment] = []
  /// Authors who have vanished and whose events are still being removed → up to when (NIP-62).
  var vanishing: [PublicKey: Int64] = [:]

  struct Generation: Sendable {
    /// The first seq that may be in it.
    var firstSeq: Int64
    var postings = PostingMemory()
    /// Events whose postings are in it, whether or not they were removed again.
    var storedCount = 0
    /// Id terms → seq.
    var ids: [UInt64: Int64] = [:]
  }

  struct Segment: Sendable {
    var number: Int64
    var firstSeq: Int64
    var lastSeq: Int64
    /// The oldest and the newest `created_at` in it: a query for the newest opens it when its walk comes that far.
    var times: ClosedRange<Int64>
    /// Events it had when it was written.
    var eventCount: Int64
    /// Events that were removed since, and whose postings still stand in it.
    var gone: Int64 = 0

    /// Whether it is to be trimmed.
    var isSparse: Bool { gone > 0 && gone * 4 >= eventCount }
  }

  /// The seq of an id that is not in a segment.
  func seq(ofID term: UInt64) -> Int64? {
    for generation in generations.reversed() {
      if let seq = generation.ids[term] { return seq }
    }
    return nil
  }

  /// Whether an event is covered by a request to vanish and only waits to be removed: nobody is answered with it.
  func hides(_ event: IndexedEvent) -> Bool {
    guard !vanishing.isEmpty else { return false }
    return event.goesWith.contains { author in vanishing[author].map { event.isCovered(upTo: $0) } ?? false }
  }

  /// Makes a change that was committed.
  mutating func apply(_ change: ArchiveChange) {
    let last = generations.count - 1
    for (term, seq) in change.ids { generations[last].ids[term] = seq }
    for (term, seq) in change.removedIDs {
      for index in generations.indices where generations[index].ids[term] == seq { generations[index].ids[term] = nil }
    }
    if !change.discarded.isEmpty {
      let discarded = Set(change.discarded)
      for index in generations.indices {
        generations[index].ids = generations[index].ids.filter { !discarded.contains($0.value) }
      }
    }
    generations[last].storedCount += change.storedCount
    generations[last].postings.add(change.postings)
    vanishing.merge(change.vanishing) { max($0, $1) }
    for (author, until) in change.vanished where vanishing[author] == until { vanishing[author] = nil }
    for index in segments.indices { segments[index].gone += change.goneBySegment[segments[index].number] ?? 0 }
  }
}

extension IndexedEvent {
  /// Whether it is of the past that a request to vanish of a second speaks of: all but the request itself, so of
  /// several the last.
  func isCovered(upTo until: Int64) -> Bool {
    createdAt < until || createdAt == until && kind != EventKind.vanish
  }

  /// Whose vanishing takes the event along (NIP-62): its author's, and of a gift wrap that of those it is for.
  var goesWith: [PublicKey] {
    guard kind == EventKind.giftWrap else { return [pubkey] }
    let receivers = tags.filter { $0.letter.ascii == UInt8(ascii: "p") }
    return [pubkey] + receivers.compactMap { PublicKey($0.value.description) }
  }
}

/// What a transaction changes in ``ArchiveMemory``.
struct ArchiveChange: Sendable {
  /// Ids stored and not removed again: term → seq.
  var ids: [UInt64: Int64] = [:]
  /// Ids removed that were stored before: term, seq.
  var removedIDs: [UInt64: Int64] = [:]
  /// Events stored, whether or not they were removed again.
  var storedCount = 0
  /// Postings of what was stored.
  var postings: [Posting] = []
  /// The last seq given.
  var lastSeq: Int64
  /// Events stored less events removed.
  var eventCount: Int64 = 0
  /// Ids of what was removed: nobody may go on taking them for stored.
  var gone: [EventID] = []
  /// Seqs of events that were damaged and are removed: their ids are not known.
  var discarded: [Int64] = []
  /// Authors who asked to be forgotten, and up to when.
  var vanishing: [PublicKey: Int64] = [:]
  /// Those of whom nothing is left.
  var vanished: [PublicKey: Int64] = [:]
  /// Where events that were stored before were seen for the first time.
  var newSightings: Set<SeenPlace> = []
  /// How many events were removed from which segment.
  var goneBySegment: [Int64: Int64] = [:]
  /// Bytes of the foreign events stored less those of the removed.
  var foreignByteCount: Int64 = 0
  /// Bytes of the pages in use then.
  var usedByteCount: Int64 = 0
}
