import Clocks
import Glibc
import RelaySelection

// Which relays to read from: Roost's choice beside those of other clients, in simulated worlds.
//
//     outbox-bench [gate|window|time|town] [--seeds N] [--first N] [--days N] [--no-paging] [--entry NAME]
//
// `gate` plays the published conditions, `window` a week, a year, or three years, `time` measures the selector. Prints
// tab-separated lines, which Benchmarks/outbox.py makes into tables and plots. `town` prints worlds for
// Benchmarks/outbox_town.py.

struct Flags {
  var what = "window"
  var seeds = 24
  var first = 0
  var days = 7
  var isPaging = true
  var entries = Entry.all

  init() {
    var arguments = CommandLine.arguments.dropFirst()
    while let argument = arguments.popFirst() {
      switch argument {
      case "gate", "window", "time", "town": what = argument
      case "--seeds": seeds = number(&arguments)
      case "--first": first = number(&arguments)
      case "--days": days = number(&arguments)
      case "--no-paging": isPaging = false
      case "--entry":
        let name = arguments.popFirst() ?? ""
        entries = Entry.all.filter { $0.name.hasPrefix(name) }
      default: usage()
      }
    }
  }

  private func number(_ arguments: inout ArraySlice<String>) -> Int {
    guard let value = arguments.popFirst().flatMap({ Int($0) }), value >= 0 else { usage() }
    return value
  }
}

func usage() -> Never {
  print("outbox-bench [gate|window|time|town] [--seeds N] [--first N] [--days N] [--no-paging] [--entry NAME]")
  exit(64)
}

func text(_ value: Double) -> String {
  let scaled = Int64((value * 1e6).rounded())
  let digits = String(abs(scaled) % 1_000_000)
  return (scaled < 0 ? "-" : "") + "\(abs(scaled) / 1_000_000)." + String(repeating: "0", count: 6 - digits.count)
    + digits
}

let flags = Flags()
switch flags.what {
case "time": measureTimes()
case "gate":
  for seed in flags.first..<flags.first + flags.seeds {
    let world = World(Profile.all[seed % Profile.all.count], seed: UInt64(seed))
    for (name, recall) in Run(world: world, seed: UInt64(seed), windowMinutes: World.year).gate() {
      print("gate", seed, name, text(recall), separator: "\t")
    }
    fflush(nil)
  }
case "town":
  for seed in flags.first..<flags.first + flags.seeds {
    let world = World(Profile.all[seed % Profile.all.count], seed: UInt64(seed))
    let run = Run(world: world, seed: UInt64(seed), windowMinutes: World.week)
    run.printTown()
    for (mode, recall) in run.planner() { print("planner", mode.rawValue, text(recall), separator: "\t") }
  }
default:
  for seed in flags.first..<flags.first + flags.seeds {
    let world = World(Profile.all[seed % Profile.all.count], seed: UInt64(seed))
    describe(world, seed)
    let run = Run(
      world: world, seed: UInt64(seed), windowMinutes: Int32(flags.days) * 1_440, isPaging: flags.isPaging)
    for (entry, scores) in zip(flags.entries, run.play(flags.entries)) {
      for (session, score) in scores.enumerated() {
        let numbers =
          [
            score.recall, score.median, score.zero, score.ofOracle, score.wastedDials, score.duplicates,
            score.cumulative,
          ] + score.complete
        print(
          "score", flags.days, seed, entry.name, session, numbers.map(text).joined(separator: "\t"), separator: "\t")
      }
    }
    fflush(nil)
  }
}

/// A world's figures, to hold beside the calibration table.
func describe(_ world: World, _ seed: Int) {
  let (listed, all) = Run(world: world, seed: 0, windowMinutes: World.week).candidates(at: 0)
  let counts = popularity((0..<world.authors.count).map { Array(all.relays(at: $0)) })
  let people = listed.count { !$0.isEmpty }
  let top = listed.count { $0.contains(0) || $0.contains(1) }
  let client = Client(world, Conditions(windowMinutes: World.week))
  var weekly = [Int](repeating: 0, count: world.authors.count)
  client.forEachHeld(back: World.week, in: 0) { author, _, _ in weekly[author] += 1 }
  let active = weekly.filter { $0 > 0 }.sorted()
  var year = 0
  client.forEachHeld(back: World.year, in: 0) { _, _, _ in year += 1 }
  print(
    "world", seed, world.profile.name, all.authors.count { !all.relays(at: Int($0)).isEmpty }, counts.count,
    counts.keys.count { world.relays[Int($0)].isListed }, text(Double(top) / Double(max(1, people))), active.count,
    active.isEmpty ? 0 : active[active.count / 2], active.reduce(0, +), year, separator: "\t")
}

func processorNanoseconds() -> UInt64 {
  var time = timespec()
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
  return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
}

/// What a full choice and one changed list cost, on one core.
func measureTimes() {
  for (follows, relays, rounds) in [(500, 600, 50), (10_000, 3_000, 10)] {
    var random = SeededGenerator(seed: 1)
    var candidates = RelayCandidates(relayCount: relays)
    var beliefs = DeliveryBeliefs()
    for author in 0..<Int32(follows) {
      let list = (0..<4).map { _ in Int32(pow(random.unit(), 3) * Double(relays)) }
      candidates.add(author, list)
      beliefs.learn(
        PostingReport(author: author, minute: 0, events: Int(random.next() % 40), observedMinutes: 10_080))
      for relay in list {
        let had = Int(random.next() % 10)
        beliefs.learn(DeliveryReport(relay: relay, author: author, minute: 0, had: had, known: 10))
        beliefs.learn(ReachReport(relay: relay, minute: 0, answered: random.unit() < 0.8))
      }
    }
    candidates.alive = (0..<relays).map { _ in random.unit() < 0.6 }
    for mode in SelectionMode.allCases {
      var selector = RelaySelector(mode: mode, seed: 1, beliefs: beliefs)
      let budget = SelectionBudget(live: 20, visits: 20, spares: 20)
      var times: [UInt64] = []
      for _ in 0..<rounds {
        let start = processorNanoseconds()
        _ = selector.select(candidates, budget: budget, at: 10_080)
        times.append(processorNanoseconds() - start)
      }
      times.sort()
      let start = processorNanoseconds()
      for author in 0..<1_000 as Range<Int32> {
        _ = selector.replan(author, [author % Int32(relays), 1, 7, 20], at: 10_080)
      }
      let replan = Double(processorNanoseconds() - start) / 1_000
      let full = Double(times[times.count / 2])
      print(
        "time", follows, relays, mode.rawValue, text(full / 1e6), text(Double(times[times.count - 1]) / 1e6),
        text(replan / 1e6), text(100 * replan / full), separator: "\t")
    }
  }
}
