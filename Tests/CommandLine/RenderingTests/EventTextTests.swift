import Clocks
import Cryptography
import Nostr
import TestSupport
import Testing
import Wording

@testable import Rendering

/// Events and people as they are shown: strangers' texts, on somebody's terminal.
@Suite struct EventTextTests {
  private static let key = SecretKey.generate()

  private func event(_ kind: UInt16, _ content: String, _ tags: [[String]] = [], at time: Int64 = 0) -> Event {
    UnsignedEvent(pubkey: Self.key.publicKey, createdAt: time, kind: kind, tags: tags, content: content)
      .signed(by: Self.key)
  }

  @Test("A note is shown with its time, its author's name and key, and the beginning of what it says")
  func note() {
    let npub = Self.key.publicKey.npub
    let short = "\(npub.prefix(11))…\(npub.suffix(4))"
    let note = event(1, "first\nsecond \u{1B}[2J", at: 1_763_728_205)
    #expect(
      EventText.line(note, name: "Al\u{202E}", .plain)
        == "2025-11-21 12:30:05  Al\\u{202E} \(short)  note  first\\nsecond \\e[2J")
    #expect(
      EventText.block(note, name: nil, .plain)
        == ["2025-11-21 12:30:05  \(short)  note", "  first", "  second \\e[2J"])
    let long = EventText.block(event(1, String(repeating: "word ", count: 500)), name: nil, .plain)
    #expect(long.count == 5 && long.last?.hasSuffix("…") == true)
    #expect(long.dropFirst().allSatisfy { $0.count <= 100 })
  }

  @Test("What does not speak in words is told: reposts, reactions, lists, what is encrypted, unknown kinds")
  func others() {
    let id = String(repeating: "0", count: 63) + "1"
    func tail(_ event: Event) -> String {
      String(EventText.line(event, name: nil, .plain).split(separator: "  ").dropFirst(2).joined(separator: "|"))
    }
    #expect(tail(event(7, "+", [["e", id]])) == "reaction|of note1qqqqqqqqq…|♥")
    #expect(tail(event(6, "{}", [["e", id]])) == "repost|of note1qqqqqqqqq…")
    #expect(tail(event(3, "{}", [["p", id], ["p", "x"]])) == "follows|2 people")
    #expect(tail(event(10_002, "", [["r", "wss://x"]])) == "relays|1 relay")
    #expect(tail(event(1_059, "AAAA")) == "gift wrap|(encrypted)")
    #expect(tail(event(0, #"{"name":"Al","about":"x"}"#)) == "profile|Al\\nx")
    #expect(tail(event(0, "nonsense")) == "profile|nonsense")
    #expect(tail(event(5, "", [["e", id], ["a", "x"]])) == "deletion|of 2 events")
    #expect(tail(event(30_078, "data")) == "kind 30078|data")
  }

  @Test("No text of a stranger brings a control character to the terminal, nor a line beyond 80 columns of a profile")
  func hostile() {
    let seed = seeds(1)[0]
    var generator = SeededGenerator(seed: seed)
    func garbage() -> String {
      var text = ""
      for _ in 0..<Int.random(in: 0...300, using: &generator) {
        let value = [0x0...0x20, 0x7F...0x9F, 0x20...0x7E, 0x200B...0x206F, 0x3040...0x30FF]
          .map { UInt32.random(in: $0, using: &generator) }.randomElement(using: &generator)
        if let scalar = value.flatMap(Unicode.Scalar.init) { text.unicodeScalars.append(scalar) }
      }
      return text
    }
    func string(_ text: String) -> String { String(decoding: JSONLine.string(text), as: UTF8.self) }
    for _ in 0..<100 {
      let fields = ["name", "about", "nip05", "lud16", "website", "picture", "display_name"]
      let content = "{" + fields.map { "\"\($0)\":\(string(garbage()))" }.joined(separator: ",") + "}"
      let events = [
        event(0, content), event(1, garbage()), event(10_002, "", [["r", garbage()], ["r", "wss://a.b"]]),
      ]
      let person = Person(Self.key.publicKey, events)
      let profile = ProfileText.lines(PersonView(person, followerCount: 3), now: 100, .plain)
      #expect(profile.allSatisfy { DisplayWidth.of($0) <= 80 }, "seed \(seed): \(profile)")
      let lines =
        profile + EventText.block(events[1], name: garbage(), .plain) + [
          EventText.line(events[1], name: garbage(), .plain)
        ]
      for line in lines {
        #expect(
          line.unicodeScalars.allSatisfy { $0.value >= 0x20 && !(0x7F..<0xA0).contains($0.value) && $0 != "\u{202E}" },
          "seed \(seed)")
      }
    }
  }

  @Test("A profile is one screen: names, addresses, relays, follows, the last note; a stranger is told as unknown")
  func profile() {
    let events = [
      event(0, #"{"name":"alice","display_name":"Alice","about":"one\n\n\ntwo","nip05":"a@b.c","bot":true}"#, at: 10),
      event(0, #"{"name":"old"}"#, at: 9),
      event(10_002, "", [["r", "wss://both.example"], ["r", "wss://in.example", "read"]]),
      event(10_050, "", [["relay", "wss://dm.example"]]), event(3, "", [["p", "\(Self.key.publicKey)"]]),
      event(1, "last words", at: 40),
    ]
    let view = PersonView(Person(Self.key.publicKey, events), followerCount: 2, account: "me")
    #expect(
      ProfileText.lines(view, now: 100, .plain) == [
        "Alice", Self.key.publicKey.npub, "\(Self.key.publicKey)", "", "account    me", "name       alice",
        "about      one", "", "           two", "nip05      a@b.c (claimed)", "bot        yes: a program writes here",
        "writes to  wss://both.example", "reads at   wss://both.example", "           wss://in.example",
        "messages   wss://dm.example", "follows    1 person; followed by 2 of those stored here",
        "last note  1970-01-01 00:00:40, 1m ago", "           last words",
        "updated    1970-01-01 00:00:10, 1m 30s ago",
      ])
    let nobody = ProfileText.lines(PersonView(Person(Self.key.publicKey, []), followerCount: 0), now: 1, .plain)
    #expect(nobody.last?.hasPrefix("Nothing of this person is stored.") == true)
    let broken = Person(Self.key.publicKey, [event(0, "nonsense")])
    #expect(
      ProfileText.lines(PersonView(broken, followerCount: 0), now: 1, .plain).contains { $0.contains("cannot be read") }
    )
  }

  @Test("Times are read as they are written: dates, spans before now, seconds; nothing else")
  func times() {
    let now: Int64 = 1_763_728_205
    #expect(CalendarTime.text(now) == "2025-11-21 12:30:05")
    let right: [(String, Int64)] = [
      ("2025-11-21T12:30:05Z", now), ("2025-11-21 12:30", now - 5), ("2025-11-21", 1_763_683_200), ("1970-01-01", 0),
      ("2024-02-29", 1_709_164_800), ("1763728205", now), ("0", 0), ("2h", now - 7_200), ("1w", now - 604_800),
    ]
    for (text, seconds) in right { #expect(CalendarTime.seconds(reading: text, now: now) == seconds, "\(text)") }
    for text in [
      "", "x", "2025", "2025-13-01", "2025-02-29", "2025-1-1", "2025-11-21T24:00", "2025-11-21T", "-1", "9999999w",
      "3y",
      "1969-12-31", "2025-11-21T12", "12:30",
    ] where text != "2025" {
      #expect(CalendarTime.seconds(reading: text, now: now) == nil, "\(text)")
    }
    let seed = seeds(1)[0]
    var generator = SeededGenerator(seed: seed)
    for _ in 0..<1_000 {
      let seconds = Int64.random(in: 0..<253_402_300_800, using: &generator)
      #expect(CalendarTime.seconds(reading: CalendarTime.text(seconds), now: 0) == seconds, "seed \(seed)")
    }
  }

  @Test("JSON on a terminal is the same value without anything that a terminal acts on")
  func json() {
    func made(_ text: String) -> String { String(decoding: VisibleText.makeJSON(Array(text.utf8)), as: UTF8.self) }
    #expect(made(#"{"a":"plain ✓ \u001b"}"#) == #"{"a":"plain ✓ \u001b"}"#)
    #expect(made("{\"a\":\"\u{9B}31m\u{7F}\u{202E}\u{E0041}\"}") == #"{"a":"\u009b31m\u007f\u202e\udb40\udc41"}"#)
  }
}
