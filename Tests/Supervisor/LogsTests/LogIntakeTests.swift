import Clocks
import Glibc
import Logs
import TestSupport
import Testing

@Suite("The intake of a log") struct LogIntakeTests {
  @Test("takes a burst, then counts, and says how many lines are missing where they are missing")
  func gap() {
    var intake = LogIntake(linesPerSecond: 10, burstLines: 20)
    var messages: [LogMessage] = []
    for index in 0..<50 { give(&intake, "line \(index)", at: 1_000, &messages) }
    #expect(messages.map(\.message) == (0..<20).map { "line \($0)" })
    #expect(intake.droppedLineCount == 30)
    messages = []
    // Half of the burst is free after a second.
    #expect(intake.nextDeadline == at(2_000))
    give(&intake, "too early", at: 1_999, &messages)
    give(&intake, "again", at: 2_000, &messages)
    #expect(messages.map(\.message) == ["31 lines dropped in 1 s", "again"])
    #expect(messages.first?.level == .warning && messages.first?.category == "log")
    #expect(intake.nextDeadline == nil)
  }

  @Test("tells of a gap every three seconds while it lasts, and once more when a worker falls silent")
  func longGap() {
    var intake = LogIntake(linesPerSecond: 1, burstLines: 20)
    var messages: [LogMessage] = []
    for index in 0..<4_231 { give(&intake, "\(index)", at: 0, &messages) }
    messages = []
    #expect(intake.nextDeadline == at(3_000))
    intake.timerFired(now: at(2_999), messages: &messages)
    #expect(messages == [])
    intake.timerFired(now: at(3_000), messages: &messages)
    #expect(messages.map(\.message) == ["4,211 lines dropped in 3 s"])
    give(&intake, "x", at: 5_000, &messages)
    intake.timerFired(now: at(6_000), messages: &messages)
    #expect(messages.last?.message == "1 line dropped in 3 s")
    while let next = intake.nextDeadline { intake.timerFired(now: next, messages: &messages) }
    #expect(messages.count == 2)
    give(&intake, "y", at: 10_000, &messages)
    #expect(messages.last?.message == "y")
  }

  @Test("keeps to its rate in the long run, whatever the pattern, and loses no line from its count")
  func rate() {
    let seed = seeds(1)[0]
    var random = SeededGenerator(seed: seed)
    var intake = LogIntake(linesPerSecond: 100, burstLines: 50)
    var messages: [LogMessage] = []
    var now: UInt64 = 0
    var given: UInt64 = 0
    while now < 60_000 {
      now += UInt64.random(in: 0...200, using: &random)
      for _ in 0..<Int.random(in: 0...60, using: &random) {
        give(&intake, "line", at: now, &messages)
        given += 1
      }
    }
    let kept = UInt64(messages.filter { $0.category == "stdout" }.count)
    #expect(kept + intake.droppedLineCount == given, "seed \(seed)")
    #expect(kept <= 100 * now / 1_000 + 51, "seed \(seed)")
    intake.ended(now: at(now), messages: &messages)
    let told = messages.filter { $0.category == "log" }.compactMap { message in
      message.message.split(separator: " ").first.flatMap { UInt64($0.filter { $0 != "," }) }
    }
    #expect(told.reduce(0, +) == intake.droppedLineCount, "seed \(seed)")
  }

  @Test("reads structured lines, whichever key comes first, and keeps everything else as the text it is")
  func structured() {
    let plain = [
      "hello", "", "{", #"{"level":"info"}"#, #"{"level":"loud","category":"c","message":"m"}"#,
      #"{"level":"info","category":"c","message":"m""#, #"{"level":"info","category":"c","message":"m","fields":[1]}"#,
      #"{"a":"# + String(repeating: "[", count: 5_000),
    ]
    for line in plain {
      #expect(parse(line, .standardOutput) == LogMessage(.info, "stdout", line))
      #expect(parse(line, .standardError) == LogMessage(.notice, "stderr", line))
    }
    #expect(
      parse(#"{"level":"error","category":"relay","message":"a\nb","fields":{"k":"v"}}"#, .standardError)
        == LogMessage(.error, "relay", "a\nb", fields: ["k": "v"]))
    #expect(
      parse(#"{"category":"relay","level":"debug","message":"m"}"#, .standardOutput)
        == LogMessage(.debug, "relay", "m"))
  }

  @Test("keeps what the table of levels asks for, also after it has changed")
  func levels() {
    var levels = LogFilter(general: .notice)
    #expect(!levels.shouldKeep(category: "relay", level: .info))
    let isSet = levels.set("relay", .debug)
    #expect(isSet)
    #expect(levels.shouldKeep(category: "relay", level: .debug) && !levels.shouldKeep(category: "store", level: .debug))
    _ = levels.set("*", .error)
    #expect(!levels.shouldKeep(category: "store", level: .warning))
    #expect(levels.words == ["*": "error", "relay": "debug"])
    for index in 0..<LogFilter.categoryCountMaximum { _ = levels.set("c\(index)", .info) }
    let isTooMuch = levels.set("one more", .info)
    let isKnown = levels.set("relay", .info)
    let isTooLong = levels.set(String(repeating: "x", count: 200), .info)
    #expect(!isTooMuch && isKnown && !isTooLong)

    var intake = LogIntake(linesPerSecond: 10, burstLines: 10)
    var messages: [LogMessage] = []
    withLine(#"{"level":"info","category":"store","message":"m"}"#) {
      intake.received($0, from: .standardError, levels: levels, now: at(0), messages: &messages)
    }
    #expect(messages == [])
  }

  @Test("stands a flood of 200 MB in bounded memory, and lets through its rate and no more")
  func flood() {
    let chunk = Array(
      repeating: Array((String(repeating: "flood ", count: 33) + "\n").utf8), count: 330
    ).flatMap { $0 }
    var splitter = LineSplitter()
    var intake = LogIntake(linesPerSecond: 2_000, burstLines: 4_000)
    let levels = LogFilter()
    var keptCount = 0
    var lineCount: UInt64 = 0
    var now: UInt64 = 0
    let before = residentBytes()
    for _ in 0..<(200_000_000 / chunk.count) {
      // 100 MB/s: a chunk of 65 kB each 655 µs.
      now += 655_000
      var messages: [LogMessage] = []
      chunk.withUnsafeBytes { bytes in
        splitter.received(bytes) { line in
          lineCount += 1
          intake.received(
            line, from: .standardOutput, levels: levels, now: Instant(nanoseconds: now), messages: &messages)
        }
      }
      keptCount += messages.filter { $0.category == "stdout" }.count
    }
    #expect(UInt64(keptCount) + intake.droppedLineCount == lineCount)
    #expect(keptCount >= 4_000 && keptCount <= 4_000 + 2_000 * 2)
    // Of the whole process: other tests may be running in it.
    #expect(residentBytes() - before < 100 << 20)
  }

  private func at(_ milliseconds: UInt64) -> Instant { Instant(nanoseconds: 0).advanced(milliseconds: milliseconds) }

  private func give(_ intake: inout LogIntake, _ line: String, at milliseconds: UInt64, _ messages: inout [LogMessage])
  {
    withLine(line) {
      intake.received(
        $0, from: .standardOutput, levels: LogFilter(), now: at(milliseconds), messages: &messages)
    }
  }

  private func parse(_ line: String, _ source: LogSource) -> LogMessage? {
    var intake = LogIntake(linesPerSecond: 1, burstLines: 1)
    var messages: [LogMessage] = []
    withLine(line) {
      intake.received($0, from: source, levels: LogFilter(general: .trace), now: at(0), messages: &messages)
    }
    return messages.first
  }

  private func withLine(_ text: String, _ body: (SplitLine) -> Void) {
    var splitter = LineSplitter()
    Array((text + "\n").utf8).withUnsafeBytes { splitter.received($0, body) }
  }
}

/// Memory of this process that is in use now.
func residentBytes() -> Int {
  var bytes = [UInt8](repeating: 0, count: 256)
  let descriptor = open("/proc/self/statm", O_RDONLY)
  let count = read(descriptor, &bytes, bytes.count)
  close(descriptor)
  let words = String(decoding: bytes[..<max(0, count)], as: UTF8.self).split(separator: " ")
  return words.count > 1 ? (Int(words[1]) ?? 0) * Int(getpagesize()) : 0
}
