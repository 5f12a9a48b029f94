import ClientSession
import Clocks
import Contracts
import Frames
import Testing

/// One subscription on its way from the store to its client.
@Suite("A feed")
struct FeedMachineTests {
  private typealias Action = FeedMachine.Action

  private static let away = Refusal(.unavailable, "the store is starting", outcome: .notStarted)
  private static let invalid = Refusal(.badRequest, "no such filter", outcome: .notStarted)
  private static let unread = Refusal(.cancelled, "the client does not read", outcome: .done)
  private static let unwanted = Refusal(.cancelled, "the client wants no more", outcome: .done)

  private static func at(_ milliseconds: UInt64) -> Instant {
    Instant(nanoseconds: 1_000_000_000).advanced(milliseconds: milliseconds)
  }

  /// A page of events with these seqs; 0 for one that is not kept.
  private static func records(_ seqs: [Int64]) throws -> [EventPage.Record] {
    var page: [UInt8] = []
    for seq in seqs {
      Array("{}".utf8).withUnsafeBytes { EventPage.append(seq: seq == 0 ? nil : seq, kind: 1, $0, to: &page) }
    }
    return try EventPage.read(page)
  }

  /// One whose client has room, and whose turn is granted: the store has been asked.
  private static func asking(isFetched: Bool = false, at milliseconds: UInt64 = 0) -> FeedMachine {
    var feed = FeedMachine(awaitsNetwork: isFetched)
    _ = feed.began(at: at(milliseconds))
    _ = feed.clientHasRoom(at: at(milliseconds))
    _ = feed.turnGranted(hasRoom: true)
    return feed
  }

  /// One that reads what is stored.
  private static func reading(isFetched: Bool = false) -> FeedMachine {
    var feed = asking(isFetched: isFetched)
    _ = feed.answerBegan()
    return feed
  }

  /// One that has had all that was stored, up to this seq.
  private static func live(after seq: Int64) -> FeedMachine {
    var feed = reading()
    _ = feed.tookStoredEnd(StoredEnd(seq: seq))
    return feed
  }

  /// One that is cut off, and asks again: it has its turn.
  private static func askAgain(_ feed: inout FeedMachine) {
    _ = feed.pauseEnded(at: at(1_000))
    _ = feed.clientHasRoom(at: at(1_000))
    _ = feed.turnGranted(hasRoom: true)
    _ = feed.answerBegan()
  }

  // MARK: Asking

  @Test("A feed waits for room, then for a turn, then asks the store")
  func asks() {
    var feed = FeedMachine(awaitsNetwork: false)
    #expect(feed.began(at: Self.at(0)) == [.wait(for: .room)])
    #expect(feed.clientHasRoom(at: Self.at(5)) == [.askForTurn(isLong: false), .wait(for: .turn)])
    #expect(feed.turnGranted(hasRoom: true) == [.wait(for: .answer(afterSeq: nil))])
    #expect(feed.answerBegan() == [.wait(for: .part)])
  }

  @Test("A turn that is granted when the client has no room goes back unused")
  func turnWithoutRoom() {
    var feed = FeedMachine(awaitsNetwork: false)
    _ = feed.began(at: Self.at(0))
    _ = feed.clientHasRoom(at: Self.at(0))
    #expect(feed.turnGranted(hasRoom: false) == [.endTurn(byteCount: 0), .wait(for: .room)])
    #expect(feed.clientHasRoom(at: Self.at(0)) == [.askForTurn(isLong: false), .wait(for: .turn)])
  }

  // MARK: Stored events

  @Test("Stored events are delivered before their end is, and the end gives the turn back")
  func storedEvents() throws {
    var feed = Self.reading()
    let page = try Self.records([9, 8])
    #expect(feed.partArrived(isPage: true, hasRoom: true) == [.takePart])
    #expect(feed.tookPage(page, byteCount: 36) == [.deliver(page), .wait(for: .part)])
    #expect(feed.partArrived(isPage: false, hasRoom: true) == [.takePart])
    #expect(
      feed.tookStoredEnd(StoredEnd(seq: 9, isComplete: true))
        == [.endTurn(byteCount: 36), .tellStoredEnd(isComplete: true), .wait(for: .part)])
  }

  @Test("The end of what is stored is taken from a client without room too")
  func storedEndWithoutRoom() {
    var feed = Self.reading()
    #expect(feed.partArrived(isPage: false, hasRoom: false) == [.takePart])
  }

  @Test("A stored event that was given before the store was away is not given again")
  func duplicates() throws {
    var feed = Self.reading()
    _ = feed.tookPage(try Self.records([9, 8]), byteCount: 36)
    #expect(feed.answerEnded(Self.away, at: Self.at(900)).last == .wait(for: .pause(milliseconds: 250)))
    Self.askAgain(&feed)
    let page = try Self.records([9, 8, 7])
    #expect(feed.tookPage(page, byteCount: 54) == [.deliver([page[2]]), .wait(for: .part)])
    #expect(feed.tookPage(try Self.records([8]), byteCount: 18) == [.wait(for: .part)], "a page without news")
  }

  @Test("An ephemeral event has no seq and is given each time")
  func ephemeral() throws {
    var feed = Self.reading()
    let page = try Self.records([0, 0])
    #expect(feed.tookPage(page, byteCount: 36) == [.deliver(page), .wait(for: .part)])
    #expect(feed.tookPage(page, byteCount: 36) == [.deliver(page), .wait(for: .part)])
  }

  @Test("The end of what is stored is told once, whatever dies later")
  func storedEndOnce() {
    var feed = Self.live(after: 9)
    _ = feed.answerEnded(Self.away, at: Self.at(10))
    _ = feed.pauseEnded(at: Self.at(260))
    _ = feed.answerBegan()
    #expect(feed.tookStoredEnd(StoredEnd(seq: 12)) == [.wait(for: .part)])
  }

  // MARK: The network's part

  @Test("With the network asked, the end of what is stored waits for its part and says nothing of completeness")
  func network() throws {
    var feed = Self.asking(isFetched: true)
    #expect(feed.answerBegan() == [.followNetwork, .wait(for: .part)])
    let page = try Self.records([3])
    #expect(feed.tookPage(page, byteCount: 18) == [.noteNetworkProgress, .deliver(page), .wait(for: .part)])
    #expect(
      feed.tookStoredEnd(StoredEnd(seq: 3, isComplete: true))
        == [.endTurn(byteCount: 18), .awaitNetwork, .wait(for: .part)])
    #expect(feed.networkEnded() == [.tellStoredEnd(isComplete: nil)])
  }

  @Test("An event that comes while the network is waited for is delivered before the end of what is stored")
  func deliveredWhileAwaiting() throws {
    var feed = Self.reading(isFetched: true)
    _ = feed.tookStoredEnd(StoredEnd(seq: 3))
    let page = try Self.records([4])
    #expect(feed.tookPage(page, byteCount: 18) == [.noteNetworkProgress, .deliver(page), .wait(for: .part)])
  }

  @Test("The network is followed once, however often the store is asked")
  func networkOnce() {
    var feed = Self.reading(isFetched: true)
    _ = feed.answerEnded(Self.away, at: Self.at(10))
    _ = feed.pauseEnded(at: Self.at(260))
    _ = feed.clientHasRoom(at: Self.at(260))
    _ = feed.turnGranted(hasRoom: true)
    #expect(feed.answerBegan() == [.wait(for: .part)])
  }

  @Test("A cancelled feed leaves the network and tells no end")
  func networkLeft() {
    var feed = Self.reading(isFetched: true)
    _ = feed.tookStoredEnd(StoredEnd(seq: 3))
    #expect(feed.cancelled() == [.leaveNetwork, .abandonAnswer(Self.unwanted)])
  }

  @Test("The network's end after a refusal is told to no client")
  func networkAfterRefusal() {
    var feed = Self.reading(isFetched: true)
    _ = feed.tookStoredEnd(StoredEnd(seq: 3))
    #expect(feed.answerEnded(Self.invalid, at: Self.at(5)) == [.tellEnd(Self.invalid)])
    #expect(feed.networkEnded().isEmpty)
  }

  // MARK: Clients that do not read

  @Test("A page of stored events waits with its turn until the client has read")
  func rests() {
    var feed = Self.reading()
    #expect(feed.partArrived(isPage: true, hasRoom: false) == [.restTurn, .wait(for: .room)])
    #expect(feed.clientHasRoom(at: Self.at(5)) == [.resumeTurn, .takePart])
  }

  @Test("A turn that rests goes to another client that waits for it; the rest is asked for when this one has read")
  func restingTurnWanted() throws {
    var feed = Self.reading()
    _ = feed.tookPage(try Self.records([9]), byteCount: 18)
    _ = feed.partArrived(isPage: true, hasRoom: false)
    #expect(feed.turnWanted() == [.abandonAnswer(Self.unread), .endTurn(byteCount: 18)])
    #expect(feed.clientHasRoom(at: Self.at(90_000)) == [.wait(for: .room)])
    #expect(feed.clientHasRoom(at: Self.at(90_000)) == [.askForTurn(isLong: false), .wait(for: .turn)])
  }

  @Test("What comes to a client that does not read is given back, and asked for after the last seq when it has read")
  func resumes() throws {
    var feed = Self.live(after: 9)
    _ = feed.tookPage(try Self.records([11, 10]), byteCount: 36)
    #expect(feed.partArrived(isPage: true, hasRoom: false) == [.abandonAnswer(Self.unread), .wait(for: .room)])
    #expect(feed.clientHasRoom(at: Self.at(90_000)) == [.wait(for: .answer(afterSeq: 11))])
  }

  // MARK: Turns

  @Test("A turn is compared with its share once it has brought that much, and not once stored events are over")
  func share() throws {
    var feed = Self.reading()
    let (first, second) = (try Self.records([9]), try Self.records([8]))
    let half = FeedMachine.shareByteCount / 2
    #expect(feed.tookPage(first, byteCount: half) == [.deliver(first), .wait(for: .part)])
    #expect(feed.tookPage(second, byteCount: half) == [.deliver(second), .compareShare, .wait(for: .part)])
    _ = feed.tookStoredEnd(StoredEnd(seq: 9))
    let third = try Self.records([10])
    #expect(feed.tookPage(third, byteCount: half) == [.deliver(third), .wait(for: .part)])
  }

  @Test("A spent turn cancels the answer, passes over the rest of it, and asks for a long turn at its end")
  func spent() {
    var feed = Self.reading()
    #expect(feed.turnSpent() == [.cancelAnswer])
    #expect(feed.partArrived(isPage: true, hasRoom: true) == [.wait(for: .part)])
    #expect(feed.partArrived(isPage: false, hasRoom: true) == [.wait(for: .part)])
    #expect(feed.answerEnded(Self.unwanted, at: Self.at(10)) == [.endTurn(byteCount: 0), .wait(for: .room)])
    #expect(feed.clientHasRoom(at: Self.at(10)) == [.askForTurn(isLong: true), .wait(for: .turn)])
  }

  // MARK: The store is away

  @Test("A store that is away is asked again after a pause, with another turn")
  func away() {
    var feed = Self.asking()
    #expect(
      feed.answerEnded(Self.away, at: Self.at(10)) == [.endTurn(byteCount: 0), .wait(for: .pause(milliseconds: 250))])
    #expect(feed.pauseEnded(at: Self.at(260)) == [.wait(for: .room)])
  }

  @Test("An answer that the store ends without a refusal is asked for again after a pause")
  func endedWithoutRefusal() {
    var feed = Self.live(after: 9)
    #expect(feed.answerEnded(nil, at: Self.at(10)) == [.wait(for: .pause(milliseconds: 250))])
    #expect(feed.pauseEnded(at: Self.at(260)) == [.wait(for: .answer(afterSeq: 9))])
  }

  @Test("A store that stays away for a minute ends the feed with its refusal")
  func absence() {
    var feed = Self.live(after: 9)
    _ = feed.answerEnded(Self.away, at: Self.at(0))
    let longest = FeedMachine.absenceMilliseconds
    _ = feed.pauseEnded(at: Self.at(longest - 1))
    #expect(feed.answerEnded(Self.away, at: Self.at(longest + 500)) == [.wait(for: .pause(milliseconds: 250))])
    _ = feed.pauseEnded(at: Self.at(longest))
    #expect(feed.answerEnded(Self.away, at: Self.at(longest)) == [.tellEnd(Self.away)])
  }

  @Test("A refusal that will not pass ends the feed at once, with its turn")
  func refused() {
    var feed = Self.asking()
    #expect(feed.answerEnded(Self.invalid, at: Self.at(10)) == [.endTurn(byteCount: 0), .tellEnd(Self.invalid)])
    #expect(feed.cancelled().isEmpty)
  }

  // MARK: Cancelled

  @Test("Cancelled while it waits, a feed does nothing more")
  func cancelledWaiting() {
    var new = FeedMachine(awaitsNetwork: true)
    #expect(new.cancelled().isEmpty)
    #expect(new.began(at: Self.at(0)).isEmpty)
    var waiting = FeedMachine(awaitsNetwork: false)
    _ = waiting.began(at: Self.at(0))
    #expect(waiting.cancelled().isEmpty)
    #expect(waiting.clientHasRoom(at: Self.at(1)).isEmpty)
    var pausing = Self.live(after: 9)
    _ = pausing.answerEnded(Self.away, at: Self.at(0))
    #expect(pausing.cancelled().isEmpty)
    #expect(pausing.pauseEnded(at: Self.at(250)).isEmpty)
  }

  @Test("Cancelled while it waits for its turn, a feed ends the turn, granted or not")
  func cancelledBeforeTurn() {
    var feed = FeedMachine(awaitsNetwork: false)
    _ = feed.began(at: Self.at(0))
    _ = feed.clientHasRoom(at: Self.at(0))
    #expect(feed.cancelled() == [.endTurn(byteCount: 0)])
    var withdrawn = feed
    #expect(withdrawn.turnWithdrawn().isEmpty)
    #expect(feed.turnGranted(hasRoom: true).isEmpty)
  }

  @Test("Cancelled while the store is asked, a feed keeps its turn until the answer has ended")
  func cancelledAsking() {
    var feed = Self.asking(isFetched: true)
    #expect(feed.cancelled().isEmpty)
    #expect(feed.answerBegan() == [.cancelAnswer, .wait(for: .part)])
    #expect(feed.partArrived(isPage: true, hasRoom: true) == [.wait(for: .part)])
    #expect(feed.answerEnded(Self.unwanted, at: Self.at(10)) == [.endTurn(byteCount: 0)])
  }

  @Test("Cancelled among the stored events, a feed keeps its turn until the answer has ended")
  func cancelledReading() throws {
    var feed = Self.reading()
    _ = feed.tookPage(try Self.records([9]), byteCount: 18)
    #expect(feed.cancelled() == [.cancelAnswer])
    #expect(feed.turnSpent().isEmpty)
    #expect(feed.cancelled().isEmpty)
    #expect(feed.answerEnded(Self.unwanted, at: Self.at(10)) == [.endTurn(byteCount: 18)])
  }

  @Test("Cancelled while it gives way, a feed ends its turn with the answer and does not ask again")
  func cancelledGivingWay() {
    var feed = Self.reading()
    _ = feed.turnSpent()
    #expect(feed.cancelled().isEmpty)
    #expect(feed.answerEnded(Self.unwanted, at: Self.at(10)) == [.endTurn(byteCount: 0)])
  }

  @Test("Cancelled while its turn rests, a feed abandons the answer and ends the turn at once")
  func cancelledResting() {
    var feed = Self.reading()
    _ = feed.partArrived(isPage: true, hasRoom: false)
    #expect(feed.cancelled() == [.abandonAnswer(Self.unwanted), .endTurn(byteCount: 0)])
    #expect(feed.clientHasRoom(at: Self.at(10)).isEmpty)
  }

  @Test("Cancelled after the stored events, a feed abandons the answer, or the one that has just begun")
  func cancelledLive() {
    var feed = Self.live(after: 9)
    #expect(feed.cancelled() == [.abandonAnswer(Self.unwanted)])
    #expect(feed.answerEnded(Self.unwanted, at: Self.at(10)).isEmpty)
    var asking = Self.live(after: 9)
    _ = asking.answerEnded(Self.away, at: Self.at(0))
    _ = asking.pauseEnded(at: Self.at(250))
    #expect(asking.cancelled().isEmpty)
    #expect(asking.answerBegan() == [.abandonAnswer(Self.unwanted)])
  }
}
