import Cryptography
import Clocks
import Contracts
import Frames
import TestSupport
import Testing
import Wording

@testable import Rendering

@Suite struct TextTests {
  @Test("Control bytes and marks that reorder text are made visible; other text stays")
  func visible() {
    #expect(VisibleText.make("plain ✓ žluť 日本") == "plain ✓ žluť 日本")
    #expect(VisibleText.make("\u{1B}[2J\u{7}") == "\\e[2J\\u{7}")
    #expect(VisibleText.make("a\nb\tc\rd") == "a\\nb\\tc\\rd")
    #expect(VisibleText.make("\u{9B}31m\u{202E}x\u{7F}") == "\\u{9B}31m\\u{202E}x\\u{7F}")
  }

  @Test("No text of others can bring a control character into a line")
  func noEscapes() {
    let seed = seeds(1)[0]
    var generator = SeededGenerator(seed: seed)
    for _ in 0..<200 {
      let scalars = (0..<40).map { _ in Unicode.Scalar(UInt8.random(in: 0...255, using: &generator)) }
      var text = ""
      text.unicodeScalars.append(contentsOf: scalars)
      #expect(
        VisibleText.make(text).unicodeScalars.allSatisfy { $0.value >= 0x20 && !(0x7F..<0xA0).contains($0.value) },
        "seed \(seed)")
    }
  }

  @Test(
    "Spans of time have their two largest units",
    arguments: [
      (0, "0ms"), (999, "999ms"), (59_999, "59s"), (60_000, "1m"), (125_000, "2m 5s"), (12_000_000, "3h 20m"),
      (349_200_000, "4d 1h"),
    ] as [(UInt64, String)])
  func durations(milliseconds: UInt64, text: String) { #expect(Amount.duration(milliseconds: milliseconds) == text) }

  @Test(
    "Bytes have a unit and at most two or three digits",
    arguments: [
      (0, "0 B"), (1_023, "1023 B"), (1_024, "1.0 KiB"), (9_900_000, "9.4 MiB"), (14_680_064, "14 MiB"),
      (UInt64.max, "15 EiB"),
    ] as [(UInt64, String)])
  func bytes(count: UInt64, text: String) { #expect(Amount.bytes(count) == text) }

  @Test("A span of time is read with its unit, and nothing else is")
  func reading() {
    #expect(Amount.milliseconds(reading: "30s") == 30_000)
    #expect(Amount.milliseconds(reading: "500ms") == 500)
    #expect(Amount.milliseconds(reading: "2m") == 120_000)
    #expect(Amount.milliseconds(reading: "1h") == 3_600_000)
    for text in ["", "s", "-1s", "1.5s", "1x", "1 s", "99999999999s", "1200h", "١s"] {
      #expect(Amount.milliseconds(reading: text) == nil, "\(text)")
    }
  }

  @Test(
    "Base64 as in RFC 4648",
    arguments: [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg==")])
  func base64(text: String, encoded: String) { #expect(Base64.encode(Array(text.utf8)) == encoded) }

  @Test("Lines are the same however the input is cut; too long ones are told and passed over")
  func lines() {
    let input = Array("one\n\n  \r\ntwo\r\n0123456789x\nlast".utf8)
    let expected: [InputLineSplitter.Line] = [
      .text(Array("one".utf8), number: 1), .text(Array("two".utf8), number: 4), .tooLong(number: 5),
      .text(Array("last".utf8), number: 6),
    ]
    for size in 1...input.count {
      var splitter = InputLineSplitter(byteCountMaximum: 10)
      var lines: [InputLineSplitter.Line] = []
      var rest = input[...]
      while !rest.isEmpty {
        lines += splitter.received(Array(rest.prefix(size)))
        rest = rest.dropFirst(size)
      }
      #expect(lines + splitter.ended() == expected, "in pieces of \(size)")
    }
  }

  @Test("A call that waits is explained by the state of its workers, and only if none of them is there")
  func waiting() {
    func workers(_ states: WorkerStateWord...) -> [WorkerStatus] {
      states.enumerated().map { WorkerStatus(name: "w\($0)", role: "example", state: $1) }
    }
    let held = "w0 is held: the call waits in the mailbox; 'roost hold --release w0' lets it run"
    #expect(WaitingText.sentence(workers("held")) == held)
    let several = "w1 is backoff, w2 is starting: the call waits in the mailbox; 'roost why w1' tells more"
    #expect(WaitingText.sentence(workers("stopped", "backoff", "starting")) == several)
    for states: [WorkerStateWord] in [[], ["ready"], ["held", "attached"], ["stopped"], ["failed", "exited"]] {
      let workers = states.map { WorkerStatus(name: "w", role: "example", state: $0) }
      #expect(WaitingText.sentence(workers) == nil, "\(states)")
    }
  }
}
