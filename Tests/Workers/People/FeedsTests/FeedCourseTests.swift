import Contracts
import Cryptography
import Feeds
import Frames
import Nostr
import Testing

@Suite("What passes a feed") struct FeedCourseTests {
  private let world = FeedWorld()

  private func course(_ lists: Event..., after position: Int64 = 10) -> FeedCourse {
    let source = PeopleSource.follows(of: world.me.publicKey)
    var course = FeedCourse(
      of: world.me.publicKey, .people(source, kinds: PeopleFeed.defaultKinds), after: position)
    for list in lists { _ = course.learned(list) }
    return course
  }

  private func authors(_ course: FeedCourse) -> Set<PublicKey> {
    Set(course.observedFilters(byteMaximum: 100_000).dropFirst(2).flatMap { $0.authors ?? [] })
  }

  @Test("Only those whom one follows are shown, in the kinds that are wanted; the place moves with every event")
  func follows() {
    var course = course(world.follows(world.bob))
    #expect(authors(course) == [world.bob.publicKey])
    #expect(course.received(world.event(world.bob), seq: 11).verdict.isShown)
    #expect(!course.received(world.event(world.carol), seq: 12).verdict.isShown)
    #expect(!course.received(world.event(world.bob, kind: 7), seq: 13).verdict.isShown)
    #expect(course.position == 13)
    #expect(!course.received(world.event(world.bob, at: 5), seq: 13).verdict.isShown, "it was handled")
    course.storedEnded(at: 20)
    #expect(course.position == 20)
    course.storedEnded(at: 15)
    #expect(course.position == 20)
  }

  @Test("Who is followed is shown from the list on, who is unfollowed not; an older version changes nothing")
  func changes() {
    var course = course(world.follows(world.bob, world.carol))
    let (verdict, change) = course.received(world.follows(world.bob, world.dave, at: 2), seq: 11)
    #expect(!verdict.isShown && change == .people)
    #expect(authors(course) == [world.bob.publicKey, world.dave.publicKey] && course.position == 11)
    #expect(!course.received(world.event(world.carol), seq: 12).verdict.isShown)
    #expect(course.received(world.event(world.dave), seq: 13).verdict.isShown)
    #expect(course.received(world.follows(world.carol, at: 1), seq: 14).change.isEmpty)
    #expect(course.received(world.follows(world.dave, world.bob, at: 3), seq: 15).change.isEmpty, "another order")
    #expect(course.lists.state.people == 2 && course.lists.state.isListKnown == true)
  }

  @Test("Without a list nobody is shown; the lists are read, so that it is known when one comes")
  func empty() {
    var course = course()
    #expect(course.lists.state.isListKnown == false && course.lists.state.people == 0)
    #expect(course.shownFilters(byteMaximum: 10_000).isEmpty)
    #expect(course.observedFilters(byteMaximum: 10_000).map(\.kinds) == [[10_000], [3]])
    #expect(course.received(world.follows(world.bob), seq: 11).change == .people)
    #expect(course.received(world.event(world.bob), seq: 12).verdict.isShown)
  }

  @Test("What was committed while the first page was read is shown once")
  func page() {
    var course = course(world.follows(world.bob))
    let (before, early) = (world.event(world.bob, at: 1), world.event(world.bob, at: 2))
    #expect(course.paged(before, seq: 9).isShown && course.paged(early, seq: 11).isShown)
    #expect(!course.received(early, seq: 11).verdict.isShown)
    #expect(course.received(world.event(world.bob, at: 3), seq: 12).verdict.isShown)
  }

  @Test("A muted person, thread, hashtag or word is kept out from the list on")
  func mutes() {
    let thread = world.event(world.bob, at: 77)
    var course = course(world.follows(world.bob, world.carol))
    let list = world.mutes([
      ["p", "\(world.carol.publicKey)"], ["e", "\(thread.id)"], ["t", "Sport"], ["word", "Football"],
    ])
    #expect(course.received(list, seq: 11).change == .mutes)
    let reposted = String(decoding: world.event(world.dave, [], "I love football").json, as: UTF8.self)
    let kept: [Event] = [
      world.event(world.carol), thread, world.event(world.bob, [["e", "\(thread.id)", "", "root"]]),
      world.event(world.bob, kind: 20, [["t", "SPORT"]]), world.event(world.bob, [], "my FOOTBALL team"),
      world.event(world.bob, kind: 30_023, [["d", "a"], ["title", "Football"]]),
      world.event(world.bob, kind: 6, [["p", "\(world.carol.publicKey)"]]),
      world.event(world.bob, kind: 6, [], String(decoding: world.event(world.carol).json, as: UTF8.self)),
      world.event(world.bob, kind: 16, [["p", "\(world.dave.publicKey)"]], reposted),
    ]
    for (number, event) in kept.enumerated() {
      #expect(!course.received(event, seq: Int64(20 + number)).verdict.isShown, "\(number)")
    }
    #expect(course.received(world.event(world.bob, [["t", "sports"]], "foot ball"), seq: 40).verdict.isShown)
    #expect(course.received(world.mutes([], at: 2), seq: 41).change == .mutes)
    #expect(course.received(world.event(world.carol), seq: 42).verdict.isShown)
  }

  @Test("Private mutes count once they are read; while a newer version is locked, those of the one before do")
  func privateMutes() {
    var course = course(world.follows(world.bob, world.carol))
    let first = world.mutes([], hidden: "x")
    _ = course.received(first, seq: 11)
    #expect(course.lists.sealed == [first] && course.lists.state.privateMutes == .locked)
    #expect(course.received(world.event(world.carol, at: 1), seq: 12).verdict.isShown)
    #expect(course.opened([["p", "\(world.carol.publicKey)"]], of: first.id, .read) == .mutes)
    #expect(course.lists.sealed.isEmpty && course.lists.state.privateMutes == .read)
    #expect(!course.received(world.event(world.carol, at: 2), seq: 13).verdict.isShown)
    let second = world.mutes([["t", "a"]], hidden: "y", at: 2)
    _ = course.received(second, seq: 14)
    #expect(course.opened([], of: first.id, .read).isEmpty, "it is of an older version")
    #expect(course.opened(nil, of: second.id, .locked).isEmpty && course.lists.sealed == [second])
    #expect(!course.received(world.event(world.carol, at: 3), seq: 15).verdict.isShown)
    #expect(!course.received(world.event(world.bob, [["t", "a"]]), seq: 16).verdict.isShown)
    _ = course.opened(nil, of: second.id, .unreadable)
    #expect(course.lists.sealed.isEmpty && course.lists.state.privateMutes == .unreadable)
    _ = course.received(world.mutes([], at: 3), seq: 17)
    #expect(course.lists.state.privateMutes == FeedState.PrivateEntries.none)
    #expect(course.received(world.event(world.carol, at: 4), seq: 18).verdict.isShown, "no private entries are left")
  }

  @Test("The people of a set are shown, its private ones once they are read; another set changes nothing")
  func set() throws {
    let source = try PeopleSource(set: "friends", of: world.me.publicKey)
    var course = FeedCourse(of: world.me.publicKey, .people(source, kinds: [1]), after: 0)
    let friends = world.event(world.me, kind: 30_000, [["d", "friends"], ["p", "\(world.bob.publicKey)"]], "x")
    #expect(course.received(friends, seq: 1).change == .people)
    let others = world.event(world.me, kind: 30_000, [["d", "others"], ["p", "\(world.dave.publicKey)"]])
    #expect(course.received(others, seq: 2).change.isEmpty)
    #expect(course.received(world.event(world.bob), seq: 3).verdict.isShown)
    #expect(!course.received(world.event(world.carol), seq: 4).verdict.isShown)
    #expect(course.opened([["p", "\(world.carol.publicKey)"]], of: friends.id, .read) == .people)
    #expect(course.received(world.event(world.carol), seq: 5).verdict.isShown)
    #expect(course.lists.state.privatePeople == .read && course.lists.state.people == 2)
    let address = try #require(EventAddress(kind: 30_000, pubkey: world.bob.publicKey, identifier: "x:y"))
    #expect(try PeopleSource(set: "\(address)", of: world.me.publicKey) == .set(address))
    #expect(try PeopleSource(set: AddressPointer(address).naddr ?? "", of: world.me.publicKey) == .set(address))
    #expect(throws: Refusal.self) { try PeopleSource(set: "30002:\(world.bob.publicKey):x", of: world.me.publicKey) }
    #expect(throws: Refusal.self) { try PeopleSource(set: "naddr1xyz", of: world.me.publicKey) }
  }

  @Test("A long list of people is asked for in several filters; what does not fit a frame is asked for by its kinds")
  func longList() {
    let people = (1...3_000).map { FeedWorld.key($0 + 100).publicKey }
    let list = world.event(world.me, kind: 3, people.map { ["p", "\($0)"] })
    let course = course(list)
    let parts = course.shownFilters(byteMaximum: 30_000)
    #expect(parts.count > 6 && parts.allSatisfy { $0.json.count <= 30_000 })
    #expect(Set(parts.flatMap { $0.authors ?? [] }) == Set(people))
    #expect(course.observedFilters(byteMaximum: 300_000).count == 3)
    let short = course.observedFilters(byteMaximum: 30_000)
    #expect(short.count == 3 && short[2].authors == nil && short[2].kinds == PeopleFeed.defaultKinds.sorted())
  }
}
