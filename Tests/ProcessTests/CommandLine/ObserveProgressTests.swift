import Contracts
import Frames
import Glibc
import LinuxSystem
import TestSupport
import Testing

/// A terminal of 80 columns: what a program writes to it, read from its other end.
final class TestTerminal {
  let program: Int32
  private let person: Int32
  private(set) var text = ""

  // TIOCSPTLCK and TIOCGPTN: grantpt(3) and its like are not in Swift's Glibc.
  private static let lock: UInt = 0x4004_5431
  private static let number: UInt = 0x8004_5430

  init() throws {
    person = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
    var (locked, number): (Int32, UInt32) = (0, 0)
    try #require(ioctl(person, Self.lock, &locked) == 0 && ioctl(person, Self.number, &number) == 0)
    program = open("/dev/pts/\(number)", O_RDWR | O_NOCTTY | O_CLOEXEC)
    try #require(program >= 0)
    var size = winsize(ws_row: 24, ws_col: 80, ws_xpixel: 0, ws_ypixel: 0)
    try #require(ioctl(program, UInt(TIOCSWINSZ), &size) == 0)
  }

  deinit {
    Descriptors.close(program)
    Descriptors.close(person)
  }

  /// What a person types.
  func type(_ words: String) throws { try Descriptors.writeAll(words, to: person) }

  func read(until words: String) throws {
    var chunk = [UInt8](repeating: 0, count: 4_096)
    try awaitSoon("'\(words)' on the terminal; so far: \(text)") {
      if text.contains(words) { return true }
      var entry = pollfd(fd: person, events: Int16(POLLIN), revents: 0)
      guard poll(&entry, 1, 100) > 0 else { return false }
      let count = Glibc.read(person, &chunk, chunk.count)
      if count > 0 { text += String(decoding: chunk[..<count], as: UTF8.self) }
      return text.contains(words)
    }
  }
}

extension ProcessTests {
  @Suite("What observe tells of its relays")
  struct ObserveProgressTests {
    /// A port at which nobody listens.
    private static let dead = "ws://127.0.0.1:1"

    private static func run(_ body: (PlannerRig, [KeepingRelay]) throws -> Void) throws {
      let relays = [try KeepingRelay(), try KeepingRelay()]
      try withRoost(PlannerRig.layout(relays.map(\.url) + [dead])) { roost in
        let rig = PlannerRig(roost: roost, client: try roost.client())
        for relay in relays { try rig.put(makeEvents(0..<1)[0], on: relay) }
        try body(rig, relays)
      }
    }

    private static func observe(
      _ rig: PlannerRig, _ arguments: [String], _ descriptors: [Int32: Int32] = [:]
    ) throws -> SpawnedProcess {
      try SpawnedProcess(
        SpawnedProcess.builtProgram("roost"),
        ["observe", "--kind", "1", "--socket", rig.roost.socket] + arguments, descriptors: descriptors)
    }

    @Test("A terminal is told in the end how many relays have sent what they had, and who cannot be reached")
    func summary() throws {
      try Self.run { rig, _ in
        let terminal = try TestTerminal()
        let process = try Self.observe(rig, [], [1: terminal.program, 2: terminal.program])
        try terminal.read(until: "1 unreachable (\(Self.dead)")
        #expect(terminal.text.contains("-- 3 relays asked: 2 done, 2 events; 1 unreachable"), "\(terminal.text)")
        process.send(SIGINT)
        #expect(try process.waitForEnd() == .exited(130))
      }
    }

    @Test("Without a terminal only the relay that cannot be asked is told, once, and with --json none")
    func news() throws {
      try Self.run { rig, _ in
        let plain = try Self.observe(rig, [])
        let line = try plain.readLine { $0.contains("cannot be asked yet") }
        #expect(line.hasPrefix("-- \(Self.dead) cannot be asked yet: "), "\(line)")
        plain.send(SIGINT)
        let rest = try plain.readAllOutput()
        #expect(!rest.contains("relays asked") && !rest.contains("\u{1B}"), "\(rest)")
        #expect(rest.split(separator: "\n").count { $0.contains(Self.dead) } == 1, "\(rest)")

        let silent = try Self.observe(rig, ["--json"])
        _ = try silent.readLine { $0.contains("isStoredEnd") }
        _ = try rig.awaitComplete(#"{"filters":[{"kinds":[1]}]}"#)
        silent.send(SIGINT)
        #expect(!(try silent.readAllOutput()).contains(Self.dead))
      }
    }

    @Test("With --json --progress how far relays are stands among the events, until all have sent what they had")
    func objects() throws {
      struct Line: Decodable { let progress: ObserveProgress }
      try Self.run { rig, relays in
        let process = try Self.observe(rig, ["--json", "--progress"])
        let text = try process.readLine { $0.contains(#""isComplete":true"#) }
        let progress = try JSONPayload.decode(Line.self, from: Array(text.utf8)).progress
        #expect(progress.relays.count { $0.state == .stored } == relays.count && progress.relays.count == 3)
        process.send(SIGINT)
        let wrong = try Self.observe(rig, ["--progress"])
        #expect(try wrong.waitForEnd() == .exited(2))
      }
    }
  }
}
