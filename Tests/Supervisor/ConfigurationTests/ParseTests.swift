import Clocks
import Testing

@testable import RoostConfiguration

@Suite("Reading as a whole")
struct ParseTests {
  @Test("An empty file is all defaults")
  func empty() throws {
    let configuration = try parse("")
    #expect(configuration.workers.isEmpty && configuration.roles.isEmpty)
    #expect(configuration.bus == BusSettings())
  }

  @Test("A worker without a role has the role of its name")
  func roleByName() throws {
    #expect(
      try parse("[worker.event-store]").workers == [WorkerConfiguration(name: "event-store", role: "event-store")])
  }

  @Test("Workers keep the order of the file")
  func order() throws {
    let text = "[worker.signer]\n[worker.dvm-tracker.limits]\n[worker.event-store]\n[worker.dvm-tracker]\n"
    #expect(try parse(text).workers.map(\.name) == ["signer", "dvm-tracker", "event-store"])
  }

  @Test("Every notation accepts what it writes for the default, for every key there is")
  func everyDefault() throws {
    let context = NotationContext(surroundings: checkout, directory: "/home/ada/roost")
    func check<Root: Equatable>(_ settings: [Setting<Root>], _ root: Root) throws {
      for setting in settings {
        var copy = root
        try setting.write(&copy, setting.read(root), context)
        #expect(copy == root, "\(setting.name)")
      }
    }
    let configuration = try parse("")
    try check(Schema.supervisor, configuration.supervisor)
    try check(Schema.bus, configuration.bus)
    try check(Schema.log, configuration.log)
    try check(Schema.role, RoleConfiguration(name: "r"))
    for role in RoleConfiguration.builtIn {
      let worker = WorkerConfiguration(name: "w", role: role)
      try check(Schema.worker + Schema.limits + Schema.settings(ofRole: role), worker)
    }
  }

  @Test("No complaint repeats a secret key that stands where a public one is wanted")
  func secretKey() {
    for secret in ["nsec1qqqqqq", "nostr:nsec1qqqqqq", "NCRYPTSEC1QQQQQQ"] {
      let said = complaints(about: "[worker.event-store]\nkeep-authors = [\"\(secret)\"]")
      #expect(said.count == 1 && !said[0].lowercased().contains("qqqqqq"), "\(said)")
    }
  }

  @Test("A thousand links in a chain of dependencies are no circle")
  func longChain() throws {
    let text = (1...1_000).reduce("[worker.w0]\nrole = \"signer\"\n") {
      $0 + "[worker.w\($1)]\nrole = \"signer\"\nafter = [\"w\($1 - 1)\"]\n"
    }
    #expect(try parse(text).workers.count == 1_001)
  }

  @Test("More workers than the bus has room for are refused")
  func tooMany() {
    let text = (0...1_024).reduce("") { $0 + "[worker.w\($1)]\nrole = \"signer\"\n" }
    #expect(complaints(about: text) == ["supervisor.conf:1: [worker] 1025 tables; at most 1024 are possible"])
  }

  @Test("A damaged file is read or refused, and never ends the process", arguments: [UInt64](1...8))
  func damage(seed: UInt64) throws {
    let original = Array(try SupervisorConfTests.uncommented().utf8)
    var generator = SeededGenerator(seed: seed)
    let replacements = Array("[]{}=.,#\"'\\\n az09-_\u{0}é".utf8)
    for _ in 0..<100 {
      var bytes = original
      for _ in 0..<Int.random(in: 1...6, using: &generator) {
        let place = Int.random(in: 0..<bytes.count, using: &generator)
        switch Int.random(in: 0...2, using: &generator) {
        case 0: bytes[place] = replacements.randomElement(using: &generator) ?? 0
        case 1: bytes.removeSubrange(place..<min(bytes.count, place + 20))
        default: bytes.insert(contentsOf: original[0..<min(40, original.count)], at: place)
        }
      }
      _ = try? Configuration.load(
        path: "x.conf", surroundings: checkout,
        readFile: { (_: String) throws(FileReading.Failure) -> [UInt8]? in bytes }, permissionCheck: { _ in nil })
    }
  }
}
