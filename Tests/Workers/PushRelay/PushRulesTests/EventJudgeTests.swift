import Addresses
import Clocks
import Cryptography
import Nostr
import PushDelivery
import PushRules
import Testing

/// Events for one owner, by others.
struct World {
  let me = SecretKey.generate()
  let other = SecretKey.generate()
  let now: Int64 = 1_800_000_000

  func event(
    _ kind: UInt16, by author: SecretKey? = nil, age: Int64 = 0, tags: [[String]]? = nil, content: String = ""
  ) -> Event {
    let author = author ?? other
    return UnsignedEvent(
      pubkey: author.publicKey, createdAt: now - age, kind: kind,
      tags: tags ?? [["p", me.publicKey.description]], content: content
    ).signed(by: author)
  }

  /// A receipt for a zap by `sender`, who says `comment`.
  func zap(by sender: SecretKey, invoiced: Int64 = 21_000, comment: String = "") throws -> Event {
    let request = try ZapRequest.template(
      for: me.publicKey, by: sender.publicKey, createdAt: now, amountMillisatoshis: 21_000,
      relays: [RelayURL("wss://r.example")], comment: comment
    ).signed(by: sender)
    let json = String(decoding: request.json, as: UTF8.self)
    let invoice = try InvoiceTerms(
      amountMillisatoshis: invoiced, paymentHash: SHA256.hash([7]), createdAt: now,
      descriptionHash: SHA256.hash(Array(json.utf8))
    ).signed(by: SecretKey.generate())
    return event(
      9_735, by: SecretKey.generate(),
      tags: [["p", me.publicKey.description], ["bolt11", invoice.text], ["description", json]])
  }

  func list(_ tags: [[String]], age: Int64 = 0) -> Event { event(10_000, by: me, age: age, tags: tags) }

  func verdict(
    _ event: Event, _ rules: WakeRules = all, _ mutes: MuteList? = nil, arrival: EventArrival = .live
  ) -> EventVerdict {
    EventJudge().judge(event, for: me.publicKey, rules, mutes, arrival: arrival, now: now)
  }

  static var all: WakeRules {
    var rules = WakeRules()
    rules.topics = Set(WakeTopic.allCases)
    return rules
  }
}

@Suite("Whether an event wakes somebody")
struct EventJudgeTests {
  private let world = World()
  private var p: [String] { ["p", world.me.publicKey.description] }
  private let root = SHA256.hash([1]).description

  @Test("Texts are among the kinds that the event store gives, and no kind stands twice")
  func kinds() {
    #expect(EventJudge.textKinds.isSubset(of: EventJudge.kinds))
    #expect(EventJudge.kinds.count == Set(EventJudge.kinds).count && EventJudge.kinds.count == 16)
  }

  @Test("A message, a mention, an answer, a zap, a reaction and a repost wake, each as what it is")
  func topics() throws {
    #expect(world.verdict(world.event(1_059)) == .wakes(.message))
    #expect(world.verdict(world.event(4)) == .wakes(.message))
    #expect(world.verdict(world.event(1)) == .wakes(.mention))
    #expect(world.verdict(world.event(1, tags: [["e", root, "", "root"], p])) == .wakes(.reply))
    let elsewhere = ["e", root, "", "reply", world.other.publicKey.description]
    #expect(world.verdict(world.event(1, tags: [elsewhere, p])) == .wakes(.mention))
    let named = world.event(1, tags: [["e", root, "", "root"], p], content: "hi nostr:\(world.me.publicKey.npub)")
    #expect(world.verdict(named) == .wakes(.mention))
    #expect(world.verdict(world.event(1_111)) == .wakes(.reply))
    #expect(world.verdict(world.event(7, content: "+")) == .wakes(.reaction))
    #expect(world.verdict(world.event(7, tags: [p, ["p", root]])) == .dismissed(.unrelated))
    #expect(world.verdict(world.event(6)) == .wakes(.repost))
    #expect(try world.verdict(world.zap(by: world.other)) == .wakes(.zap))
    #expect(world.verdict(world.event(3)) == .dismissed(.unrelated))
    #expect(world.verdict(world.event(1, tags: [["P", world.me.publicKey.description]])) == .dismissed(.unrelated))
  }

  @Test("Reactions and reposts are off unless they are asked for, and everything can be turned off")
  func switches() {
    let standard = WakeRules()
    for kind in [6, 7, 16] as [UInt16] { #expect(world.verdict(world.event(kind), standard) == .dismissed(.off)) }
    for kind in [1, 4, 1_059, 1_111] as [UInt16] {
      var none = standard
      #expect(world.verdict(world.event(kind), none) != .dismissed(.off))
      none.topics = []
      #expect(world.verdict(world.event(kind), none) == .dismissed(.off))
    }
  }

  @Test("Nobody is woken by himself, by his own zap, or by what is no zap")
  func own() throws {
    #expect(world.verdict(world.event(1, by: world.me)) == .dismissed(.own))
    #expect(try world.verdict(world.zap(by: world.me)) == .dismissed(.own))
    #expect(world.verdict(world.event(9_735)) == .dismissed(.malformed))
    #expect(try world.verdict(world.zap(by: world.other, invoiced: 1_000)) == .dismissed(.malformed))
  }

  @Test("What is old does not wake; of gift wraps it counts when they came")
  func age() {
    #expect(world.verdict(world.event(1, age: 600)) == .wakes(.mention))
    #expect(world.verdict(world.event(1, age: 601)) == .dismissed(.old))
    #expect(world.verdict(world.event(1, age: -900)) == .wakes(.mention))
    #expect(world.verdict(world.event(1, age: -901)) == .dismissed(.old))
    #expect(world.verdict(world.event(1_059, age: 2 * 86_400)) == .wakes(.message))
    #expect(world.verdict(world.event(1_059, age: 2 * 86_400), arrival: .past) == .dismissed(.old))
    #expect(world.verdict(world.event(1_059, age: 3 * 86_400)) == .dismissed(.old))
    #expect(world.verdict(world.event(4), arrival: .past) == .wakes(.message))
    #expect(world.verdict(world.event(4, age: 86_400)) == .dismissed(.old))
  }

  @Test("People, conversations, hashtags and words are muted by the rules and by the public list alike")
  func mutes() throws {
    let author = world.other.publicKey
    var people = World.all
    people.mutedPeople = [author]
    var threads = World.all
    threads.mutedThreads = [try #require(EventID(root))]
    var tags = World.all
    tags.mutedHashtags = ["spam"]
    var words = World.all
    words.mutedWords = ["bargain"]
    let note = world.event(1, tags: [["e", root, "", "root"], ["t", "SPAM"], p], content: "A Bargain!")
    for rules in [people, threads, tags, words] { #expect(world.verdict(note, rules) == .dismissed(.muted)) }
    for tag in [["p", author.description], ["e", root], ["t", "Spam"], ["word", "bargain"]] {
      let list = try MuteList(world.list([tag]))
      #expect(world.verdict(note, World.all, list) == .dismissed(.muted), "\(tag)")
    }
    #expect(
      try world.verdict(note, World.all, MuteList(world.list([["word", "other"], ["p", "x"]]))) == .wakes(.reply))
    #expect(try world.verdict(world.zap(by: world.other), people) == .dismissed(.muted))
    #expect(try world.verdict(world.zap(by: world.me, comment: "bargain"), words) == .dismissed(.own))
    #expect(try world.verdict(world.zap(by: world.other, comment: "BARGAIN"), words) == .dismissed(.muted))
    // What is encrypted has no words.
    #expect(world.verdict(world.event(4, content: "bargain"), words) == .wakes(.message))
  }

  @Test("A text that names a crowd means nobody")
  func crowd() {
    let crowd = (0..<100).map { ["p", SHA256.hash([UInt8($0)]).description] }
    #expect(world.verdict(world.event(1, tags: crowd.dropLast() + [p])) == .wakes(.mention))
    #expect(world.verdict(world.event(1, tags: crowd + [p])) == .dismissed(.crowd))
  }
}
