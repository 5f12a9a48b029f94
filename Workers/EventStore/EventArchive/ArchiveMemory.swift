internal import Cryptography
internal import EventIndex
internal import Nostr

/// What is known of the newest events without reading the database: their postings and ids, which are on disk only as
/// part of the events themselves.
///
/// A value: a reader takes a copy and has one state for the whole of its query; copies share their storage. The writer
/// collects its changes in an ``ArchiveChange``, which is applied here when its transaction has committed.
struct ArchiveMemory: Sendable {
  /// Events not yet in a segment. While a segment is being written, its events come first.
  var generations: [Generation] = [Generation(firstSeq: 1)]
  /// Complete segments, by number.
  var segments: [Segment] = []
  /// Authors who have vanished and whose events are still being removed → the time of the request (NIP-62).
  var vanishing: [PublicKey: Int64] = [:]

  struct Generation: Sendable {
    /// The first seq that may be in it.
    var firstSeq: Int64
    var postings = PostingMemory()
    /// Events whose postings are in it, also those that were removed since.
    var storedCount = 0
    /// Id terms → seq.
    var ids: [UInt64: Int64] = [:]
  }

  struct Segment: Sendable {
    var number: Int64
    var firstSeq: Int64
    var lastSeq: Int64
    /// The oldest and the newest `created_at` in it. A query for the newest events opens the segment when its walk
    /// reaches these times.
    var times: ClosedRange<Int64>
    /// The events it had when it was written.
    var eventCount: Int64
    /// Events that were removed since, but whose postings are still in it.
    var gone: Int64 = 0

    /// Whether it should be trimmed.
    var isSparse: Bool { gone > 0 && gone * 4 >= eventCount }
  }

  /// The seq of an id that is not in a segment.
  func seq(ofID term: UInt64) -> Int64? {
    for generation in generations.reversed() {
      if let seq = generation.ids[term] { return seq }
    }
    return nil
  }

  /// Whether a request to vanish covers the event, which then only waits to be removed and must not be in an answer.
  func hides(_ event: IndexedEvent) -> Bool {
    guard !vanishing.isEmpty else { return false }
    return event.goesWith.contains { author in vanishing[author].map { event.isCovered(upTo: $0) } ?? false }
  }

  /// Applies a committed change.
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
  /// Whether a request to vanish of this second covers the event. It covers everything up to that second except
  /// requests to vanish of that second itself, so the last request stays.
  func isCovered(upTo until: Int64) -> Bool {
    createdAt < until || createdAt == until && kind != EventKind.vanish
  }

  /// The keys whose requests cover the event, to vanish (NIP-62) or to delete it (NIP-09): its author, and for a gift
  /// wrap also its recipients, since the key that signed it is thrown away (NIP-59).
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
  /// Events stored, also those that were removed again.
  var storedCount = 0
  /// The postings of the events stored.
  var postings: [Posting] = []
  /// The last seq given.
  var lastSeq: Int64
  /// The events stored minus the events removed.
  var eventCount: Int64 = 0
  /// Ids of removed events: no cache may treat them as stored.
  var gone: [EventID] = []
  /// Seqs of events that are removed because they were damaged: their ids are not known.
  var discarded: [Int64] = []
  /// Authors who asked to be forgotten → the time of the request.
  var vanishing: [PublicKey: Int64] = [:]
  /// The same authors, once none of their events is left.
  var vanished: [PublicKey: Int64] = [:]
  /// New sightings of events that were stored before.
  var newSightings: Set<SeenPlace> = []
  /// How many events were removed from each segment.
  var goneBySegment: [Int64: Int64] = [:]
  /// The bytes of the foreign events stored, minus those of the foreign events removed.
  var foreignByteCount: Int64 = 0
  /// The bytes of the pages in use after the change.
  var usedByteCount: Int64 = 0
}
