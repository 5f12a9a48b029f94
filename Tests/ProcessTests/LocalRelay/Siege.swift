import Contracts
import Cryptography
import Frames
import Glibc
import Nostr
import Synchronization
import Testing

@testable import TestSupport

/// An honest client beside attacks on the local relay: it must get every answer, and how long it waited is printed.
final class Siege {
  /// What attackers were told, in short: `400`, `close 1009`, `NOTICE invalid`, `OK false rate-limited`, `EOSE`, `cut`.
  typealias Answers = Set<String>

  private let house: LocalRelayHouse
  private let honest: RelayVisitor
  private let author = Author()
  private var second: Int64 = 1_700_000_000
  private let workers: [(name: String, pid: Int64)]

  /// Rounds of the honest client beside each attack, at least and at most.
  private static let rounds = 8...400
  /// Most resident bytes of a worker, at any time.
  private static let memoryMaximum = 500 << 20

  init(_ house: LocalRelayHouse) throws {
    self.house = house
    honest = try house.visitor()
    workers = try ["local-relay", "event-store"].map { name in
      (name, Int64(try #require(try house.roost.worker(name, house.client).pid)))
    }
    for _ in 0..<10 { try honest.put(next()) }
  }

  private func next() -> Event {
    second += 1
    return author.event("honest", at: second)
  }

  /// Runs an attack in a thread of its own until it is over. All of `expected` must be among its answers.
  func withstand(
    _ name: String, expecting expected: Answers, _ attack: @escaping @Sendable (UInt16) throws -> Answers
  ) throws {
    let (port, outcome) = (house.port, Outcome())
    let thread = JoinedThread { outcome.set(Result { try attack(port) }) }
    defer { thread.join() }
    var (asked, published): ([Double], [Double]) = ([], [])
    while asked.count < Self.rounds.lowerBound || outcome.value == nil, asked.count < Self.rounds.upperBound {
      try round(&asked, &published)
      // Within the rates that a test sets.
      usleep(20_000)
    }
    thread.join()
    let answers = try #require(outcome.value).get()
    #expect(answers.isSuperset(of: expected), "\(name) was answered \(answers.sorted())")
    print("hostile: \(name): REQ \(Self.told(asked)), EVENT \(Self.told(published)); \(answers.sorted())")
    try look(name)
  }

  private func round(_ asked: inout [Double], _ published: inout [Double]) throws {
    var start = Monotonic.seconds
    let found = try honest.request("{\"authors\":[\"\(author.publicKey)\"],\"limit\":10}")
    #expect(found.ids.count == 10 && found.refusal == nil, "\(found.refusal ?? "\(found.ids.count) events")")
    asked.append(Monotonic.seconds - start)
    start = Monotonic.seconds
    try honest.put(next())
    published.append(Monotonic.seconds - start)
  }

  private static func told(_ seconds: [Double]) -> String {
    let sorted = seconds.sorted()
    let (middle, late) = (sorted[sorted.count / 2], sorted[sorted.count * 99 / 100])
    return "p50 \(Int(middle * 1_000_000)) µs, p99 \(Int(late * 1_000_000)) µs"
  }

  /// The workers are those they were, and have not grown.
  private func look(_ name: String) throws {
    for (worker, pid) in workers {
      #expect(try house.roost.worker(worker, house.client).pid.map { Int64($0) } == pid, "\(worker) after \(name)")
      let peak = house.roost.memory(peak: true, of: pid_t(pid))
      #expect(peak < Self.memoryMaximum, "\(worker) took \(peak >> 20) MiB of \(name)")
    }
  }

  /// What a thread hands over.
  private final class Outcome: Sendable {
    private let box = Mutex<Result<Answers, any Error>?>(nil)
    var value: Result<Answers, any Error>? { box.withLock { $0 } }
    func set(_ value: Result<Answers, any Error>) { box.withLock { $0 = value } }
  }
}

extension RelayVisitor {
  /// What it was told, in short.
  var answers: Siege.Answers {
    var answers = Set(messages.map(Self.kind))
    if !isUpgraded { answers.insert(String(head.dropFirst(9).prefix(3))) }
    if let closeCode {
      answers.insert("close \(closeCode)")
    } else if isUpgraded, isOver || isCut {
      answers.insert("cut")
    }
    return answers
  }

  private static func kind(_ message: [JSONValue]) -> String {
    guard case .string(let label)? = message.first else { return "?" }
    guard ["OK", "NOTICE", "CLOSED", "NEG-ERR"].contains(label), case .string(let text)? = message.last else {
      return label
    }
    let word = String(text.prefix { $0 != ":" })
    guard label == "OK" else { return "\(label) \(word)" }
    return message[2] == .bool(true) ? "OK true" : "OK false \(word)"
  }

  /// Sends text messages.
  func send(_ count: Int, _ make: (Int) -> String) { for number in 0..<count { send(make(number)) } }

  /// Reads until a number of messages have come, or until it is over.
  func awaitEnd(orMessages count: Int = .max) throws {
    try wait("the end") { isOver || closeCode != nil || messages.count >= count }
  }
}
