import Clocks
import Contracts
import Frames
import Glibc
import TestSupport
import Testing

// Random kills under load, and a checker that knows what every request may have become.
//
// Three kinds of request, each leaving one line in a file as its side effect:
//
//   plain     delivered again after a death: answered means done at least once
//   most      AT_MOST_ONCE: never twice, whatever happens; answered means once; `not-started` means not at all
//   keyed     addressed to the worker that keeps the key; asked again after the hub itself was killed: exactly once in
//             the end, and every answer to the key is the same
//
// One thread turns all clients, so that the kills fall between any two steps of anybody.
final class KillMatrix {
  enum Kind: CaseIterable { case plain, most, keyed }

  struct Request {
    var kind: Kind
    var key: String
  }

  private struct Client {
    var peer: BusPeer
    var pending: [UInt64: Request] = [:]
    var asked: [UInt64] = []
  }

  private let roost: RunningRoost
  private var random: SeededGenerator
  private var clients: [Client] = []
  private var nextKey = 0
  /// What became of each key.
  private var responses: [String: Request] = [:]
  private var refusals: [(request: Request, refusal: Refusal)] = []
  private var lines: [String: String] = [:]
  private var lost: [Request] = []
  /// Keyed requests whose hub was killed before the answer.
  private var toAskAgain: [Request] = []
  private(set) var violations: [String] = []
  private(set) var askedCount = 0
  private(set) var againCount = 0
  private(set) var workerKills = 0
  private(set) var hubKills = 0

  static let workers = ["w0", "w1", "w2"]
  static let clientCount = 4
  static let pendingMaximum = 12

  init(_ roost: RunningRoost, seed: UInt64) throws {
    self.roost = roost
    random = SeededGenerator(seed: seed)
    try connect()
  }

  private func connect() throws {
    clients = try (0..<KillMatrix.clientCount).map { Client(peer: try roost.client("client \($0)")) }
  }

  // MARK: Turning

  /// Works and kills until so many workers were killed.
  func run(untilWorkerKills count: Int) throws {
    var nextKill = Monotonic.seconds
    let control = try roost.client("control")
    while workerKills < count {
      try turn(asksMore: true)
      guard Monotonic.seconds >= nextKill else { continue }
      try killSomeWorker(control)
      nextKill = Monotonic.seconds + Double.random(in: 0.005...0.08, using: &random)
    }
  }

  /// Waits until every request has its answer.
  func settle() throws {
    let end = Monotonic.seconds + 60
    while clients.contains(where: { !$0.pending.isEmpty }) || !toAskAgain.isEmpty {
      guard Monotonic.seconds < end else {
        violations.append("unanswered: \(clients.flatMap { $0.pending.values }.map(\.key))")
        return
      }
      try turn(asksMore: false)
    }
    countTerminals(isHubAlive: true)
  }

  private func turn(asksMore: Bool) throws {
    var entries = clients.map { pollfd(fd: $0.peer.descriptor, events: Int16(POLLIN), revents: 0) }
    poll(&entries, UInt(entries.count), 2)
    for index in clients.indices {
      clients[index].peer.receive()
      for (id, request) in clients[index].pending {
        guard let answer = clients[index].peer.takeAnswer(to: id) else { continue }
        clients[index].pending[id] = nil
        note(answer, request)
      }
      while clients[index].pending.count < KillMatrix.pendingMaximum, clients[index].peer.hasCredit {
        guard let request = nextRequest(asksMore: asksMore) else { break }
        try ask(request, by: index)
      }
    }
  }

  private func nextRequest(asksMore: Bool) -> Request? {
    if let request = toAskAgain.popLast() { return request }
    guard asksMore else { return nil }
    nextKey += 1
    askedCount += 1
    let kind = Kind.allCases[nextKey % Kind.allCases.count]
    // Now and then a key that was answered long ago: the same again.
    if kind == .keyed, nextKey % 15 == 14, let old = lines.keys.randomElement(using: &random) {
      againCount += 1
      return Request(kind: .keyed, key: old)
    }
    return Request(kind: kind, key: "\(kind)-\(nextKey)")
  }

  private func ask(_ request: Request, by index: Int) throws {
    let peer = clients[index].peer
    var destination = Endpoint.hub
    var file = "\(request.kind)"
    if request.kind == .keyed {
      let worker = KillMatrix.worker(of: request.key)
      file = "keyed-\(worker)"
      let member = try #require(peer.welcome?.registry.members.first { $0.name == worker })
      destination = Endpoint(rawValue: member.endpoint)
    }
    // Some take a moment between the deed and the answer, or hardly a kill would find the place.
    let pause = nextKey % 4 == 0 ? #","milliseconds":2"# : ""
    let id = try peer.ask(
      request.kind == .keyed ? "example.once" : "example.append",
      #"{"path":"\#(roost.path(file))","key":"\#(request.key)"\#(pause)}"#,
      flags: request.kind == .most ? .atMostOnce : [],
      to: destination)
    clients[index].pending[id] = request
    clients[index].asked.append(id)
  }

  private static func worker(of key: String) -> String {
    workers[key.utf8.reduce(0) { $0 &* 31 &+ Int($1) } % workers.count]
  }

  private func note(_ answer: BusPeer.Answer, _ request: Request) {
    if let refusal = answer.refusal {
      refusals.append((request, refusal))
      if request.kind != .most { violations.append("\(request.key) was refused: \(refusal.message)") }
      return
    }
    responses[request.key] = request
    guard request.kind == .keyed else { return }
    if let before = lines[request.key], before != answer.text {
      violations.append("\(request.key) was answered \(before), then \(answer.text)")
    }
    lines[request.key] = answer.text
  }

  // MARK: Killing

  private func killSomeWorker(_ control: BusPeer) throws {
    let status = try roost.status(control)
    guard let pid = status.workers.compactMap(\.pid).randomElement(using: &random), kill(pid, SIGKILL) == 0 else {
      return
    }
    workerKills += 1
  }

  /// Kills roostd, starts it again, and asks anew what was not answered and may be asked again.
  func killHub() throws {
    try roost.killDaemon()
    hubKills += 1
    for index in clients.indices {
      // What was written before the death still counts.
      while !clients[index].peer.isEnded { clients[index].peer.receive(withinMilliseconds: 1_000) }
      for (id, request) in clients[index].pending {
        if let answer = clients[index].peer.takeAnswer(to: id) {
          note(answer, request)
        } else if request.kind == .keyed {
          toAskAgain.append(request)
        } else {
          lost.append(request)
        }
      }
      clients[index].pending = [:]
    }
    countTerminals(isHubAlive: false)
    try roost.startAgain()
    try connect()
    let witness = try roost.client("witness")
    try witness.wait("the workers in the registry") { (witness.welcome?.registry.members.count ?? 0) == 3 }
    try connect()
  }

  private func countTerminals(isHubAlive: Bool) {
    for client in clients {
      for id in client.asked {
        let count = client.peer.terminalCounts[id] ?? 0
        if count > 1 || (isHubAlive && count != 1) { violations.append("request \(id) has \(count) terminal answers") }
      }
    }
    for index in clients.indices { clients[index].asked = [] }
  }

  // MARK: Checking

  /// Compares the files with what was answered.
  func check() {
    let plain = Self.counts(roost.lines("plain"))
    let most = Self.counts(roost.lines("most"))
    for request in responses.values {
      switch request.kind {
      case .plain: if plain[request.key] == nil { violations.append("\(request.key) is answered and not done") }
      case .most:
        if most[request.key] != 1 {
          violations.append("\(request.key) is answered and done \(most[request.key] ?? 0) times")
        }
      case .keyed: checkKeyed(request.key)
      }
    }
    for (key, count) in most where count > 1 { violations.append("\(key) is done \(count) times") }
    for (request, refusal) in refusals where refusal.outcome == .notStarted && most[request.key] != nil {
      violations.append("\(request.key) is done, and was told as not started")
    }
    for worker in Self.workers {
      for (key, count) in Self.counts(roost.lines("keyed-\(worker)")) where count > 1 {
        violations.append("\(key) is done \(count) times")
      }
    }
  }

  private lazy var ledgers = Dictionary(
    uniqueKeysWithValues: Self.workers.map { worker in
      (worker, Dictionary(roost.lines("keyed-\(worker)").enumerated().map { ($1, $0) }) { first, _ in first })
    })

  private func checkKeyed(_ key: String) {
    guard let place = ledgers[Self.worker(of: key)]?[key] else {
      violations.append("\(key) is answered and not done")
      return
    }
    if lines[key] != #"{"line":\#(place)}"# {
      violations.append("\(key) stands at \(place), answered \(lines[key] ?? "")")
    }
  }

  private static func counts(_ lines: [String]) -> [String: Int] { lines.reduce(into: [:]) { $0[$1, default: 0] += 1 } }

  /// What happened, for people.
  var summary: String {
    let repeated = Self.counts(roost.lines("plain")).values.filter { $0 > 1 }.count
    return """
      \(askedCount) requests, \(againCount) of them keys asked again; \(workerKills) workers and \(hubKills) hubs killed; \
      \(responses.count) answered, \(refusals.count) at-most-once told as unknown or not started, \(lost.count) lost with a \
      hub; \(repeated) plain ones done more than once
      """
  }
}

extension ProcessTests {
  @Suite("Kill matrix")
  struct KillMatrixTests {
    @Test("Random kills of workers and of roostd itself under load", arguments: seeds(1))
    func randomKills(seed: UInt64) throws {
      let kills = figure("ROOST_KILLS", 60)
      let hubKills = figure("ROOST_HUB_KILLS", 3)
      let layout = Layout(workers: KillMatrix.workers.map { Layout.Worker(name: $0) })
      try withRoost(layout) { roost in
        let matrix = try KillMatrix(roost, seed: seed)
        // Hubs die in the first half, so that the second is one life long enough to see a leak.
        for number in 0..<hubKills {
          try matrix.run(untilWorkerKills: kills / 2 * (number + 1) / hubKills)
          try matrix.killHub()
        }
        try matrix.run(untilWorkerKills: kills / 2 + kills / 10)
        let before = roost.memory()
        try matrix.run(untilWorkerKills: kills)
        try matrix.settle()
        let after = roost.memory()
        matrix.check()
        print("\(matrix.summary); roostd had \(before >> 10) KiB, then \(after >> 10) KiB")
        for violation in matrix.violations.prefix(10) { Issue.record("\(violation)") }
        #expect(after <= before + max(before / 20, 2 << 20), "memory grew")
        try roost.awaitReady()
        #expect(roost.livingProcesses.count == KillMatrix.workers.count)
        #expect(roost.zombieCount == 0)
      }
    }
  }
}
