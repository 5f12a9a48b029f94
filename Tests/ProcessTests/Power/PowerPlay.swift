import Clocks
import Contracts
import Glibc
import LinuxSystem
import TestSupport

// A play under the recorder, and what is left of it at every cut.
//
//    record ─▶ log, and what was told when ─▶ for each cut: the disk as it may be then ─▶ Roost starts on it ─▶ look

/// Something that a client was told, and must hold from then on.
struct Told<Fact> {
  /// Where the log was when the client heard of it.
  var place: Int
  var fact: Fact
}

/// What clients are told, with the moment in the log.
final class ToldBook<Fact> {
  let log: PowerLog
  private(set) var told: [Told<Fact>] = []

  init(_ log: PowerLog) { self.log = log }

  /// A client was told something just now.
  func note(_ fact: Fact) { told.append(Told(place: log.place, fact: fact)) }
}

/// What a Roost has done to its disk, and has said.
struct PowerRecording<Fact> {
  let log: PowerLog
  let root: String
  let told: [Told<Fact>]

  /// Runs a Roost under the recorder, and kills it at the end.
  ///
  /// - Parameter play: uses it, and notes each thing that it is told.
  init(_ layout: Layout, _ play: (RunningRoost, ToldBook<Fact>) throws -> Void) throws {
    let log = try PowerLog()
    let directory = try TemporaryDirectory()
    var layout = layout
    root = directory.path + "/state"
    layout.environment += log.environment(root: root)
    for index in layout.workers.indices { layout.workers[index].keys["environment"] = PowerLog.variables }
    let book = ToldBook<Fact>(log)
    let roost = try RunningRoost(layout, in: directory)
    do { try play(roost, book) } catch {
      throw DeadlinePassed(description: "\(error); roostd said: \(roost.said)")
    }
    try roost.killDaemonAndWorkers()
    try awaitSoon("nobody writes any longer") { roost.livingProcesses.isEmpty }
    self.log = log
    told = book.told
  }

  /// What the looks at all cuts have found.
  struct Findings {
    /// One line for each thing that should not be.
    var violations: [String] = []
    /// Cuts by kind, and how many of them had a violation.
    var cuts: [PowerDisk.Cut: (all: Int, bad: Int)] = [:]
    var lostByteCount = 0

    var summary: String {
      let kinds = PowerDisk.Cut.allCases.map { "\($0) \(cuts[$0]?.bad ?? 0) of \(cuts[$0]?.all ?? 0)" }
      return "cuts with a loss: \(kinds.joined(separator: ", ")); \(lostByteCount) bytes not on the disk in all"
    }
  }

  /// Cuts the power again and again, half of the times right behind something that was told.
  ///
  /// - Parameters:
  ///   - count: how many cuts.
  ///   - seed: says where, and what is lost.
  ///   - layout: of the Roosts that are started on what is left.
  ///   - look: what must hold of what was told by then; gives a line for each thing that does not.
  func cut(
    _ count: Int, seed: UInt64, _ layout: Layout, _ look: (RunningRoost, [Fact]) throws -> [String]
  ) throws -> Findings {
    var random = SeededGenerator(seed: seed)
    let records = try log.records()
    guard let first = told.first, let last = records.last else { throw DeadlinePassed(description: "nothing happened") }
    let heard = told.filter { $0.place <= last.place }
    let places = (0..<count).map { number in
      number % 2 == 0
        ? heard.randomElement(using: &random)?.place ?? first.place
        : Int.random(in: first.place...max(first.place, last.place), using: &random)
    }
    var disk = PowerDisk(log, root: root)
    var next = 0
    var findings = Findings()
    for (number, place) in places.sorted().enumerated() {
      while next < records.count, records[next].place < place {
        disk.apply(records[next])
        next += 1
      }
      let kind = PowerDisk.Cut.allCases[number % PowerDisk.Cut.allCases.count]
      let directory = try TemporaryDirectory()
      findings.lostByteCount += try disk.cut(kind, into: directory.path + "/state", &random)
      let lines = Self.lines(layout, directory, told.filter { $0.place <= place }.map(\.fact), look)
      findings.violations += lines.map { "\(kind) at \(place): \($0)" }
      findings.cuts[kind, default: (0, 0)].all += 1
      if !lines.isEmpty { findings.cuts[kind]?.bad += 1 }
    }
    return findings
  }

  private static func lines(
    _ layout: Layout, _ directory: TemporaryDirectory, _ facts: [Fact],
    _ look: (RunningRoost, [Fact]) throws -> [String]
  ) -> [String] {
    do {
      let roost = try RunningRoost(layout, in: directory)
      defer { try? roost.killDaemonAndWorkers() }
      return try look(roost, facts) + damaged(directory.path + "/state")
    } catch { return ["\(error)"] }
  }

  /// A loss of power damages nothing.
  private static func damaged(_ path: String) -> [String] {
    FolderNames.names(below: path).filter { $0.contains(".damaged-") || $0.hasSuffix(".is-damaged") }
      .map { "\($0) is there" }
  }
}

/// The names of a folder and of all below it.
enum FolderNames {
  static func names(below path: String) -> [String] {
    guard let folder = opendir(path) else { return [] }
    defer { closedir(folder) }
    var names: [String] = []
    while let entry = readdir(folder) {
      let name = withUnsafeBytes(of: &entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
      guard name != "." && name != ".." else { continue }
      names.append(name)
      if entry.pointee.d_type == UInt8(DT_DIR) { names += self.names(below: path + "/" + name) }
    }
    return names
  }
}
