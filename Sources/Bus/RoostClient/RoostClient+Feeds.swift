internal import Bus
public import Contracts
internal import EventLoop
public import Frames

// Feeds and inboxes: sequences that survive restarts of any process, as observations do (RoostClient+Observing.swift).

/// One item of a feed.
public enum FeedItem: Sendable, Hashable {
  /// An event: first stored ones, the newest first, then new ones in the order of their seq.
  case event(ReceivedEvent)
  /// Once: the stored events have been returned. A feed that passes this seq, or that of a later event, as `afterSeq`
  /// continues from there.
  case storedEnd(seq: Int64, isComplete: Bool?)
  /// What the feed goes by: first of all, and again when it changes.
  case state(FeedState)
}

/// One item of an inbox.
public enum InboxEntry: Sendable, Hashable {
  /// What another person wrote.
  case item(InboxItem)
  /// As in ``FeedItem``.
  case storedEnd(seq: Int64, isComplete: Bool?)
  /// As in ``FeedItem``.
  case state(FeedState)
}

/// What the people write whom an account follows, each event once. Made by ``RoostClient/feed(_:)``. Ends as
/// ``Observation`` does.
public struct FeedSequence: AsyncSequence, Sendable {
  /// Events, their end, and states.
  public typealias Element = FeedItem
  /// The reason of an early end.
  public typealias Failure = Refusal

  let client: RoostClient
  let wanted: PeopleFeed

  /// Starts an iteration; the first call of `next` sends the request.
  public func makeAsyncIterator() -> Iterator { Iterator(reader: FeedReader(client, wanted)) }

  /// One feed.
  public struct Iterator: AsyncIteratorProtocol {
    let reader: FeedReader

    /// The next item; nil when the task is cancelled. Only one reader at a time.
    public mutating func next(isolation actor: isolated (any Actor)?) async throws(Refusal) -> FeedItem? {
      try await reader.next()
    }
  }
}

/// What others write to an account, each once. Made by ``RoostClient/inbox(_:)``. Ends as ``Observation`` does.
public struct InboxSequence: AsyncSequence, Sendable {
  /// Items, their end, and states.
  public typealias Element = InboxEntry
  /// The reason of an early end.
  public typealias Failure = Refusal

  let client: RoostClient
  let wanted: PeopleInbox

  /// Starts an iteration; the first call of `next` sends the request.
  public func makeAsyncIterator() -> Iterator { Iterator(reader: InboxReader(client, wanted)) }

  /// One inbox.
  public struct Iterator: AsyncIteratorProtocol {
    let reader: InboxReader

    /// The next item; nil when the task is cancelled. Only one reader at a time.
    public mutating func next(isolation actor: isolated (any Actor)?) async throws(Refusal) -> InboxEntry? {
      try await reader.next()
    }
  }
}

extension RoostClient {
  /// What the people write whom an account follows, or those of a set, without what the account has muted.
  public nonisolated func feed(_ wanted: PeopleFeed = PeopleFeed()) -> FeedSequence {
    var wanted = wanted
    wanted.pages = nil
    return FeedSequence(client: self, wanted: wanted)
  }

  /// What others write to an account: answers, mentions, quotes, reactions, reposts and zaps.
  public nonisolated func inbox(_ wanted: PeopleInbox = PeopleInbox()) -> InboxSequence {
    InboxSequence(client: self, wanted: wanted)
  }
}

/// What both have besides events.
private enum FeedMark {
  case storedEnd(StoredEnd)
  case state(FeedState)

  init?(_ bytes: [UInt8]) throws(Refusal) {
    let value = try JSONPayload.decode(JSONValue.self, from: bytes)
    if value["isFeedState"] != nil {
      self = .state(try JSONPayload.decode(FeedState.self, from: bytes))
    } else if value["isStoredEnd"] != nil {
      self = .storedEnd(try JSONPayload.decode(StoredEnd.self, from: bytes))
    } else {
      return nil
    }
  }
}

/// Reads one feed, and asks again after an interruption.
@EventLoopActor
final class FeedReader {
  private let client: RoostClient
  private var wanted: PeopleFeed
  private var place: ObservedPlace
  private var answer: RoostStream<FeedEvents, Nothing>?
  private var perseverance = Perseverance(isLasting: true)
  private var state: FeedState?

  nonisolated init(_ client: RoostClient, _ wanted: PeopleFeed) {
    (self.client, self.wanted) = (client, wanted)
    place = ObservedPlace(after: wanted.afterSeq)
  }

  func next() async throws(Refusal) -> FeedItem? {
    while !Task.isCancelled {
      do throws(Refusal) {
        let item = try await nextOfAnswer()
        perseverance.moved()
        if isNew(item) { return item }
      } catch {
        answer = nil
        if Task.isCancelled { return nil }
        perseverance = try await client.persevere(after: error, perseverance)
      }
    }
    return nil
  }

  private func isNew(_ item: FeedItem) -> Bool {
    switch item {
    case .event(let event): return place.isNew(seq: event.seq)
    case .storedEnd(let seq, _): return place.isNewEnd(seq: seq)
    case .state(let new):
      defer { state = new }
      return new != state
    }
  }

  private func nextOfAnswer() async throws(Refusal) -> FeedItem {
    if answer == nil {
      wanted.afterSeq = place.resumeSeq
      answer = try await client.stream(PeopleMethod.feed, wanted)
    }
    guard let part = try await answer?.nextPart() else {
      throw Refusal(.unavailable, "the worker ended the feed", outcome: .done)
    }
    if part.bytes.starts(with: ObservedItem.seqHead) || part.bytes.starts(with: ObservedItem.eventHead),
      case .event(let event) = try ObservedItem(part: part.bytes)
    {
      return .event(event)
    }
    switch try FeedMark(part.bytes) {
    case .storedEnd(let end): return .storedEnd(seq: end.seq, isComplete: end.isComplete)
    case .state(let state): return .state(state)
    case nil: throw Refusal(.badPayload, "the worker sent something else than an event", outcome: .done)
    }
  }
}

/// Reads one inbox, and asks again after an interruption.
@EventLoopActor
final class InboxReader {
  private let client: RoostClient
  private var wanted: PeopleInbox
  private var place: ObservedPlace
  private var answer: RoostStream<InboxItems, Nothing>?
  private var perseverance = Perseverance(isLasting: true)
  private var state: FeedState?

  nonisolated init(_ client: RoostClient, _ wanted: PeopleInbox) {
    (self.client, self.wanted) = (client, wanted)
    place = ObservedPlace(after: wanted.afterSeq)
  }

  func next() async throws(Refusal) -> InboxEntry? {
    while !Task.isCancelled {
      do throws(Refusal) {
        let entry = try await nextOfAnswer()
        perseverance.moved()
        if isNew(entry) { return entry }
      } catch {
        answer = nil
        if Task.isCancelled { return nil }
        perseverance = try await client.persevere(after: error, perseverance)
      }
    }
    return nil
  }

  private func isNew(_ entry: InboxEntry) -> Bool {
    switch entry {
    case .item(let item): return place.isNew(seq: item.seq)
    case .storedEnd(let seq, _): return place.isNewEnd(seq: seq)
    case .state(let new):
      defer { state = new }
      return new != state
    }
  }

  private func nextOfAnswer() async throws(Refusal) -> InboxEntry {
    if answer == nil {
      wanted.afterSeq = place.resumeSeq
      answer = try await client.stream(PeopleMethod.inbox, wanted)
    }
    guard let part = try await answer?.nextPart() else {
      throw Refusal(.unavailable, "the worker ended the inbox", outcome: .done)
    }
    switch try FeedMark(part.bytes) {
    case .storedEnd(let end): return .storedEnd(seq: end.seq, isComplete: end.isComplete)
    case .state(let state): return .state(state)
    case nil: return .item(try JSONPayload.decode(InboxItem.self, from: part.bytes))
    }
  }
}
