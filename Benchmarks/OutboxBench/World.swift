import Clocks
import Glibc

// People, their relays and what each relay holds, from a seed. Minute 0 is the first decision; three years of history
// lie before it, and the sessions after it. The numbers are those of the calibration table in docs/outbox-method.md.
// A contender sees nothing of this but what it receives.

/// How large a world is: the six people whose follows were measured.
struct Profile: Sendable {
  let name: String
  let follows: Int
  /// The share of follows that has a list.
  let listed: Double
  /// Relays that these lists name.
  let relays: Int

  static let all = [
    Profile(name: "194", follows: 194, listed: 0.76, relays: 234),
    Profile(name: "399", follows: 399, listed: 0.58, relays: 564),
    Profile(name: "451", follows: 451, listed: 0.87, relays: 481),
    Profile(name: "945", follows: 945, listed: 0.69, relays: 733),
    Profile(name: "1777", follows: 1_777, listed: 0.77, relays: 1_202),
    Profile(name: "2795", follows: 2_795, listed: 0.78, relays: 1_648),
  ]
}

/// What a relay is in truth.
struct RelayTruth: Sendable {
  enum Class: Sendable { case content, paid, refusing, offline }

  var kind = Class.content
  /// Whether a monitor calls it alive.
  var isListed = true
  /// Events older than this are gone, in minutes.
  var retention = Int32.max
  /// The most events that one REQ returns.
  var resultMaximum = 500
  var connectMilliseconds = 700.0
  var queryMilliseconds = 300.0
  var subscriptions = 20
  /// By session: whether it can be reached.
  var isUp: [Bool] = []

  var isReadable: Bool { kind == .content || kind == .paid }
}

/// An author: relays ever declared, each a bit of the events' masks, and which of them before and after a move.
struct AuthorTruth: Sendable {
  var relays: [Int32] = []
  var before: UInt32 = 0
  var after: UInt32 = 0
  var moves = Int32.max
  /// The events, as places in the world's arrays.
  var events = 0..<0

  func declared(at minute: Int32) -> UInt32 { minute < moves ? before : after }
}

struct World: Sendable {
  static let week: Int32 = 10_080
  static let year: Int32 = 525_600
  static let sessions = 8
  /// The bit of the aggregator, which no author declares.
  static let aggregatorBit: UInt32 = 1 << 31

  let profile: Profile
  private(set) var relays: [RelayTruth] = []
  private(set) var authors: [AuthorTruth] = []
  /// By author, then by time.
  private(set) var minutes: [Int32] = []
  /// By event: the slots of its author whose relays stored it.
  private(set) var masks: [UInt32] = []

  init(_ profile: Profile, seed: UInt64) {
    self.profile = profile
    var random = SeededGenerator(seed: seed &* 7_919 &+ UInt64(profile.follows))
    let pool = profile.relays * 8 / 5
    relays = (0..<pool).map { Self.relay(rank: $0, &random) }
    var sums = [0.0]
    for rank in 0..<pool { sums.append(sums[rank] + (rank < 2 ? 2 : 1) / pow(Double(rank) + 2, 0.95)) }
    for _ in 0..<profile.follows { addAuthor(sums, &random) }
  }

  func list(of author: Int, at minute: Int32) -> [Int32] {
    let truth = authors[author]
    let mask = truth.declared(at: minute)
    return truth.relays.indices.filter { mask & (1 << UInt32($0)) != 0 }.map { truth.relays[$0] }
  }

  /// The places of an author's events between two minutes.
  func events(of author: Int, from: Int32, to: Int32) -> Range<Int> {
    let range = authors[author].events
    let low = firstPlace(range, from)
    return low..<max(low, firstPlace(range, to))
  }

  private func firstPlace(_ range: Range<Int>, _ minute: Int32) -> Int {
    var (low, high) = (range.lowerBound, range.upperBound)
    while low < high {
      let middle = (low + high) / 2
      if minutes[middle] < minute { low = middle + 1 } else { high = middle }
    }
    return low
  }

  // MARK: Relays

  private static func relay(rank: Int, _ random: inout SeededGenerator) -> RelayTruth {
    var relay = RelayTruth()
    let isLarge = rank < 10
    let draw = random.unit()
    if !isLarge {
      // Of all pairs of a relay and an author 34 % are offline, 7 % paid, and 4.5 % refuse readers (restricted, auth,
      // search only). The ten largest relays have nearly half of the pairs and are up, so more of the others are not.
      relay.kind = draw < 0.52 ? .offline : draw < 0.62 ? .paid : draw < 0.69 ? .refusing : .content
    }
    // A monitor is right about most, not about all.
    relay.isListed = isLarge || random.unit() < (relay.kind == .offline ? 0.07 : 0.9)
    let cap = random.unit()
    relay.resultMaximum = cap < 0.7 ? 500 : cap < 0.78 ? 100 : cap < 0.88 ? 1_000 : cap < 0.95 ? 5_000 : .max
    let keeps = random.unit()
    relay.retention =
      keeps < 0.5 ? .max : keeps < 0.7 ? year : keeps < 0.85 ? year / 4 : year / 12
    relay.connectMilliseconds = 710 * exp(0.4 * random.normal())
    relay.queryMilliseconds = random.unit() < 0.05 ? 15_000 : 350 * exp(0.8 * random.normal())
    let slots = random.unit()
    relay.subscriptions = slots < 0.2 ? 10 : slots < 0.8 ? 20 : slots < 0.95 ? 50 : 200
    let up = isLarge ? 0.99 : random.unit() < 0.2 ? 0.6 : 0.96
    var isUp = random.unit() < up
    for _ in 0..<World.sessions {
      // The state lasts: it is drawn again each week with a chance of a half.
      if random.unit() < 0.5 { isUp = random.unit() < up }
      relay.isUp.append(isUp && relay.kind != .offline)
    }
    return relay
  }

  // MARK: Authors

  private mutating func addAuthor(_ sums: [Double], _ random: inout SeededGenerator) {
    var author = AuthorTruth()
    let hasList = random.unit() < profile.listed
    if hasList {
      let count = Self.listLength(&random)
      author.relays = Self.draw(count, sums, [], &random)
      author.before = (1 << UInt32(author.relays.count)) - 1
      author.after = author.before
      // In three years and eight weeks one author in three moves once, and leaves some relays for others.
      if random.unit() < 0.33 {
        let new = Self.draw(1 + Int(random.next() % 3), sums, author.relays, &random)
        let kept = author.before & UInt32(truncatingIfNeeded: random.next())
        let added: UInt32 = ((1 << UInt32(new.count)) - 1) << UInt32(author.relays.count)
        author.relays += new
        author.after = kept | added
        author.moves = Int32(random.unit() * Double(3 * Self.year + 8 * Self.week)) - 3 * Self.year
      }
    }
    let isActive = random.unit() < (hasList ? 0.72 : 0.15)
    let start = minutes.count
    if isActive { addEvents(of: author, &random) }
    author.events = start..<minutes.count
    authors.append(author)
  }

  private static func listLength(_ random: inout SeededGenerator) -> Int {
    let draw = random.unit()
    if draw < 0.05 { return 6 + Int(random.next() % 15) }
    return draw < 0.12 ? 1 : 2 + Int(random.next() % 4)
  }

  private static func draw(
    _ count: Int, _ sums: [Double], _ known: [Int32], _ random: inout SeededGenerator
  ) -> [Int32] {
    var all: [Int32] = []
    for _ in 0..<200 where all.count < count {
      let point = random.unit() * sums[sums.count - 1]
      var (low, high) = (0, sums.count - 1)
      while high - low > 1 {
        let middle = (low + high) / 2
        if sums[middle] <= point { low = middle } else { high = middle }
      }
      if !all.contains(Int32(low)), !known.contains(Int32(low)) { all.append(Int32(low)) }
    }
    return all
  }

  private mutating func addEvents(of author: AuthorTruth, _ random: inout SeededGenerator) {
    // 11 events a week in the median, 30 in the mean
    let rate = 11 * exp(1.416 * random.normal())
    let first = random.unit() < 0.4 ? -3 * Self.year : -Int32(random.unit() * Double(3 * Self.year))
    let stored = author.relays.map { storedShare(at: Int($0), &random) }
    let isGathered = random.unit() < 0.45
    var week = first
    while week < Int32(Self.sessions) * Self.week {
      // Who leaves, leaves for good: 0.3 % a week.
      if random.unit() < 0.003 { return }
      let expected = rate * exp(0.6 * random.normal() - 0.18)
      let count = max(0, Int((expected + sqrt(expected) * random.normal()).rounded()))
      var times = (0..<count).map { _ in week + Int32(random.next() % UInt64(Self.week)) }
      times.sort()
      for minute in times {
        let declared = author.declared(at: minute)
        var mask: UInt32 = isGathered ? Self.aggregatorBit : 0
        for slot in stored.indices where declared & (1 << UInt32(slot)) != 0 {
          if random.unit() < stored[slot] { mask |= 1 << UInt32(slot) }
        }
        minutes.append(minute)
        masks.append(mask)
      }
      week += Self.week
    }
  }

  /// The share of an author's events that reach a relay's disk: some writes fail without a sign.
  private func storedShare(at relay: Int, _ random: inout SeededGenerator) -> Double {
    let draw = random.unit()
    switch relays[relay].kind {
    case .offline: return 0
    case .paid where draw < 0.5: return 0
    default: break
    }
    let kind = random.unit()
    return kind < 0.15 ? 0 : kind < 0.25 ? 0.5 : kind < 0.45 ? 0.85 : 0.98
  }
}

extension SeededGenerator {
  /// A number from 0 up to 1.
  mutating func unit() -> Double { Double(next() >> 11) * 0x1p-53 }

  mutating func normal() -> Double { sqrt(-2 * log(max(unit(), 0x1p-53))) * cos(2 * Double.pi * unit()) }
}
