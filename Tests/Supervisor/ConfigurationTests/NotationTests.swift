import Testing

@testable import RoostConfiguration

@Suite("How values are written")
struct NotationTests {
  private let context = NotationContext(surroundings: checkout, directory: "/home/ada/roost")

  @Test(
    "A duration is a whole number and a unit",
    arguments: [("500ms", 500), ("10s", 10_000), ("2m", 120_000), ("1h", 3_600_000), ("10 s", 10_000), ("0s", 0)])
  func durations(text: String, milliseconds: Int) throws {
    #expect(try TimeSpan.parse(text) == .milliseconds(milliseconds))
  }

  @Test(
    "Anything else is no duration",
    arguments: ["", "10", "s", "1.5s", "10 sec", "10  s", " 10s", "10S", "1m30s", "99999999999999999999s", "--1s"])
  func badDurations(text: String) {
    #expect(throws: Complaints.self) { try TimeSpan.parse(text) }
  }

  @Test(
    "A size is a whole number and a binary unit",
    arguments: [("64KiB", 65_536), ("1 MiB", 1_048_576), ("2GiB", 2_147_483_648), ("12B", 12)])
  func sizes(text: String, bytes: Int) throws {
    #expect(try ByteSize.parse(text) == bytes)
  }

  @Test("Anything else is no size", arguments: ["", "64", "64KB", "64 kib", "1.5MiB", "9999999999GiB", "MiB", "1TiB"])
  func badSizes(text: String) {
    #expect(throws: Complaints.self) { try ByteSize.parse(text) }
  }

  @Test("A decimal unit is answered with the binary one")
  func decimalUnit() {
    #expect(throws: Complaints.self) { try ByteSize.parse("64KB") }
    do throws(Complaints) { _ = try ByteSize.parse("64KB") } catch { #expect(error.list[0].nearest == "64KiB") }
  }

  @Test(
    "What is written back is read as the same value", arguments: [0, 1, 999, 1_000, 59_999, 60_000, 3_600_000, 90_061])
  func roundTrips(number: Int) throws {
    #expect(try TimeSpan.parse(TimeSpan.text(.milliseconds(number))) == .milliseconds(number))
    let size = Notation<Int>.size(0...1 << 50)
    for bytes in [number, number * 1_024, number << 20] {
      #expect(try size.parse(size.render(bytes), context) == bytes)
    }
  }

  @Test("Bounds belong to the range")
  func bounds() throws {
    let notation = Notation<Int>.integer(1...5)
    #expect(try notation.parse(.integer(1), context) == 1)
    #expect(try notation.parse(.integer(5), context) == 5)
    #expect(throws: Complaints("0 is below the least, 1")) { try notation.parse(.integer(0), context) }
    #expect(throws: Complaints("6 is above the most, 5")) { try notation.parse(.integer(6), context) }
  }

  @Test("Paths become absolute: from the file's directory, or from home")
  func paths() throws {
    #expect(try Notation.path.parse(.string("run/../run//x/"), context) == "/home/ada/roost/run/x")
    #expect(try Notation.path.parse(.string("~/x"), context) == "/home/ada/x")
    #expect(try Notation.path.parse(.string("/a/./b"), context) == "/a/b")
    #expect(try Notation.program.parse(.string("relay-connector"), context) == "relay-connector")
    #expect(try Notation.program.parse(.string("./worker.py"), context) == "/home/ada/roost/worker.py")
  }

  @Test(
    "Text is quoted so that TOML reads it back", arguments: ["", "a\"b\\c", "tab\t line\n", "snø 🪶", "\u{1}\u{7F}"])
  func quoting(text: String) throws {
    let written = "a = \(ConfigurationValue.string(text))"
    #expect(try TOMLReader.document(of: Array(written.utf8)).tree == ["a": .string(text)])
  }

  @Test(
    "What is no relay's URL is refused",
    arguments: [
      "", "relay.example", "https://relay.example", "wss://", "wss:///x", "wss://a b", "wss://u:p@relay.example",
      "wss://relay.example:0", "wss://relay.example:65536", "wss://relay.example:", "wss://[::1", "wss://[::1]x",
      "wss://relay.example/#x", "wss://snø.example",
    ])
  func badRelays(url: String) {
    #expect(throws: Complaints.self) { try Notation.relay.parse(.string(url), context) }
  }

  @Test("Patterns overlap exactly when some method is meant by both")
  func patterns() throws {
    func overlap(_ left: String, _ right: String) throws -> Bool {
      let (left, right) = (try #require(MethodPattern(left)), try #require(MethodPattern(right)))
      #expect(left.overlaps(right) == right.overlaps(left))
      return left.overlaps(right)
    }
    #expect(try overlap("a.b", "a.b"))
    #expect(try overlap("a.*", "a.b"))
    #expect(try overlap("a.*", "a.b.c"))
    #expect(try overlap("a.*", "a.*"))
    #expect(try !overlap("a.b.*", "a.b"))
    #expect(try !overlap("a.b", "a.c"))
    #expect(try !overlap("ab.*", "a.b"))
    for bad in ["", "*", "a", ".a", "a.", "a..b", "a.*.b", "A.b", "a.b*"] {
      #expect(MethodPattern(bad) == nil, "\(bad)")
    }
  }

  @Test("Full back-off delays are added up, doubling to the ceiling")
  func breaker() {
    var worker = WorkerConfiguration(name: "w", role: "event-store")
    #expect(BreakerArithmetic(worker).total == .milliseconds(15_500))
    #expect(BreakerArithmetic(worker).refusal == nil)
    worker.breakerWindow = .milliseconds(15_500)
    #expect(BreakerArithmetic(worker).refusal == nil)
    worker.breakerWindow = .seconds(15)
    #expect(BreakerArithmetic(worker).refusal?.contains("500ms + 1s + 2s + 4s + 8s = 15500ms") == true)
    worker.backoffCeiling = .seconds(2)
    #expect(BreakerArithmetic(worker).total == .milliseconds(7_500))
  }
}
