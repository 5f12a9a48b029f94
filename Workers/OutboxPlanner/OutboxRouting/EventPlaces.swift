internal import Addresses
internal import Cryptography
internal import DequeModule
public import Nostr

// Where single events may be found that are wanted by their ids. Other events that refer to them say it: a tag `e` or
// `q` may name a relay and the author (NIP-10, NIP-18), and where the other event was seen, this one may be too. The
// author's write relays come from ``AuthorBook``. A value without I/O:
//
//     want(filters) ─▶ nextUnread ── store.query ──▶ learn(event, seenAt:), wereRead(ids)
//
// Hints are hostile: ``hintMaximum`` of one event count, and only relays that others may name.

/// Where events may be found that are wanted by their ids.
public struct EventPlaces: Sendable {
  private struct Known {
    var hints: [ForeignRelayURL] = []
    var authors: [PublicKey] = []
    var isRead = false
  }

  private var known: [EventID: Known] = [:]
  /// In the order in which they became known.
  private var order: Deque<EventID> = []
  private var unread: Set<EventID> = []

  /// Relays that count for one event, beside its author's.
  public static let hintMaximum = 2
  /// Relays that are remembered for one event: some may not be used, or are asked anyway.
  static let rememberedHintMaximum = 16
  /// Authors that count for one event: who refers to it may name a wrong one.
  public static let authorMaximum = 2
  /// Events of one interest whose places are looked for.
  public static let eventMaximum = 64
  /// Events whose places are remembered; when there is one more, the one known longest goes.
  public static let knownMaximum = 4_096
  /// Events in one question to the store.
  public static let batchCount = 64

  /// Empty.
  public init() {}

  /// The ids that filters want, unless they say whose events these are: the first ``eventMaximum``.
  static func ids(_ filters: [Filter]) -> [EventID] {
    Array(filters.lazy.filter { $0.authors == nil }.flatMap { $0.ids ?? [] }.prefix(eventMaximum))
  }

  /// The places of these events are wanted.
  mutating func want(_ filters: [Filter]) {
    for id in Self.ids(filters) where known[id] == nil {
      if order.count >= Self.knownMaximum, let oldest = order.popFirst() {
        known[oldest] = nil
        unread.remove(oldest)
      }
      known[id] = Known()
      order.append(id)
      unread.insert(id)
    }
  }

  /// Up to ``batchCount`` events for which the store is to be asked.
  public var nextUnread: [EventID] { Array(unread.sorted().prefix(Self.batchCount)) }

  /// The store has sent the events that refer to these.
  public mutating func wereRead(_ ids: [EventID]) {
    for id in ids {
      known[id]?.isRead = true
      unread.remove(id)
    }
  }

  /// An event that may refer to wanted ones. `relays` are the URLs of those where it was seen.
  public mutating func learn(_ event: Event, seenAt relays: [String]) {
    for tag in event.tags where tag.count > 1 && (tag[0] == "e" || tag[0] == "q") {
      guard let id = EventID(tag[1]), var places = known[id] else { continue }
      // `e`: relay, marker, author; `q`: relay, author.
      let author = tag[0] == "e" ? (tag.count > 4 ? tag[4] : nil) : (tag.count > 3 ? tag[3] : nil)
      if let author = author.flatMap({ PublicKey($0) }), !places.authors.contains(author) {
        places.authors = Array((places.authors + [author]).prefix(Self.authorMaximum))
      }
      for text in (tag.count > 2 ? [tag[2]] : []) + relays {
        // `try?`: most hints of others are empty or no URL at all.
        guard let url = try? RelayURL(text), !places.hints.contains(where: { $0.url == url }) else { continue }
        places.hints.append(ForeignRelayURL(url))
      }
      places.hints = Array(places.hints.prefix(Self.rememberedHintMaximum))
      known[id] = places
    }
  }

  /// The authors of the events that these filters want by id, as others name them.
  func authors(_ filters: [Filter]) -> [PublicKey] { Self.ids(filters).flatMap { known[$0]?.authors ?? [] } }

  func authors(of id: EventID) -> [PublicKey] { known[id]?.authors ?? [] }

  /// Relays where an event may be, beside its author's, of those that may be used.
  func hints(of id: EventID, where isUsable: (RelayURL) -> Bool) -> [RelayURL] {
    Array((known[id]?.hints ?? []).lazy.map(\.url).filter(isUsable).prefix(Self.hintMaximum))
  }
}
