import Clocks
import Contracts
import TestSupport
import Testing

@testable import Rendering

/// As much of a terminal as the block needs: rows of text, one column a character; what is longer than a row goes on in
/// the next. A new width breaks the rows anew, as tmux and others do.
private struct Screen {
  private var rows: [(text: [Character], goesOn: Bool)] = [([], false)]
  private var row = 0
  private var column = 0
  private var columns: Int

  init(columns: Int) { self.columns = columns }

  /// Lines as they were written, however they are broken.
  var lines: [String] {
    var lines: [String] = [""]
    for row in rows {
      lines[lines.count - 1] += String(row.text)
      if !row.goesOn { lines.append("") }
    }
    while lines.last == "" { lines.removeLast() }
    return lines
  }

  mutating func write(_ text: String) {
    var rest = text[...]
    while let character = rest.popFirst() {
      switch character {
      case "\r": column = 0
      case "\n":
        row += 1
        column = 0
        if row == rows.count { rows.append(([], false)) }
      case "\u{1B}": control(&rest)
      default: put(character)
      }
    }
  }

  mutating func resize(_ columns: Int) {
    // Where the cursor is, counted in what was written.
    var before = self.row
    while before > 0, rows[before - 1].goesOn { before -= 1 }
    let offset = rows[before..<row].reduce(0) { $0 + $1.text.count } + column
    let line = rows[..<before].count { !$0.goesOn }
    let all = lines + Array(repeating: "", count: max(0, line + 1 - lines.count))
    self.columns = columns
    rows = []
    for (index, text) in all.enumerated() {
      if index == line { (row, column) = (rows.count + offset / columns, offset % columns) }
      var rest = Array(text)
      repeat {
        let part = Array(rest.prefix(columns))
        rest.removeFirst(part.count)
        rows.append((part, !rest.isEmpty))
      } while !rest.isEmpty
    }
    while rows.count <= row { rows.append(([], false)) }
  }

  private mutating func put(_ character: Character) {
    if column == columns {
      rows[row].goesOn = true
      row += 1
      column = 0
      if row == rows.count { rows.append(([], false)) }
    }
    if column < rows[row].text.count { rows[row].text[column] = character } else { rows[row].text.append(character) }
    column += 1
  }

  private mutating func control(_ rest: inout Substring) {
    rest.removeFirst()
    let number = rest.prefix { $0.isNumber }
    rest.removeFirst(number.count)
    switch rest.removeFirst() {
    case "A": row = max(0, row - (Int(number) ?? 1))
    case "K": clearRow()
    case "J":
      clearRow()
      rows.removeSubrange((row + 1)...)
    case let other: Issue.record("ESC [ \(other)")
    }
  }

  private mutating func clearRow() {
    rows[row].text.removeLast(max(0, rows[row].text.count - column))
    rows[row].goesOn = false
  }
}

@Suite("Lines that change in place")
struct LiveBlockTests {
  @Test("Lines are written over and cut to the terminal, and nothing of them stays")
  func drawing() {
    var (block, screen) = (LiveBlock(), Screen(columns: 20))
    screen.write("before\n")
    screen.write(block.show([LiveLine("one"), LiveLine("two")], columns: 20, .plain))
    #expect(screen.lines == ["before", "one", "two"])
    screen.write(block.show([LiveLine("a line that is far too long")], columns: 20, .plain))
    #expect(screen.lines == ["before", "a line that is far…"])
    screen.write(block.show([LiveLine("x"), LiveLine("y"), LiveLine("z")], columns: 20, .plain))
    #expect(screen.lines == ["before", "x", "y", "z"])
    screen.write("^C" + block.erase(columns: 20) + "behind\n")
    #expect(screen.lines == ["before", "behind"] && !block.isShown && block.erase(columns: 20).isEmpty)
  }

  @Test("Whatever is shown, written above it and resized, what was written stays and nothing else does")
  func anything() {
    let seed = seeds(1)[0]
    var generator = SeededGenerator(seed: seed)
    for _ in 0..<200 {
      var columns = 30
      var (block, screen) = (LiveBlock(), Screen(columns: columns))
      var (written, shown): ([String], [LiveLine]) = ([], [])
      for step in 0..<30 {
        switch Int.random(in: 0..<4, using: &generator) {
        case 0:
          let text = String(repeating: "o", count: Int.random(in: 1...70, using: &generator))
          screen.write(block.erase(columns: columns) + text + "\n" + block.show(shown, columns: columns, .plain))
          written.append(text)
        case 1:
          columns = Int.random(in: 8...60, using: &generator)
          screen.resize(columns)
        case 2:
          shown = []
          screen.write(block.erase(columns: columns))
        default:
          shown = (0..<Int.random(in: 1...8, using: &generator)).map {
            LiveLine("\($0) " + String(repeating: "x", count: Int.random(in: 0...70, using: &generator)))
          }
          screen.write(block.show(shown, columns: columns, .plain))
        }
        #expect(Array(screen.lines.prefix(written.count)) == written, "seed \(seed), step \(step)")
      }
      screen.write(block.erase(columns: columns))
      #expect(screen.lines == written, "seed \(seed)")
    }
  }

  @Test("Pieces are cut as one line, and painted apart")
  func pieces() {
    let line = LiveLine([.init(text: "done  ", tone: .good), .init(text: "wss://relay.example")])
    let drawn = line.drawn(12, Style(isColoured: true))
    #expect(drawn.text == "\u{1B}[32mdone  \u{1B}[0mwss:/…" && drawn.width == 12)
    #expect(LiveLine("\u{1B}[2J").drawn(20, .plain).text == "\\e[2J")
  }
}

@Suite("How far relays are, as people see it")
struct FetchTextTests {
  private func relay(
    _ name: String, _ state: RequestReport.State, _ reason: String? = nil, events: UInt64 = 0
  ) -> ObserveProgress.Relay { .init(relay: "wss://\(name).example", state: state, reason: reason, events: events) }

  private func progress(_ relays: [ObserveProgress.Relay]) -> ObserveProgress {
    ObserveProgress(isObserved: true, isComplete: true, relays: relays)
  }

  private func text(_ relays: [ObserveProgress.Relay], columns: Int = 80) -> [String] {
    FetchText.lines(progress(relays), columns: columns).map { $0.drawn(columns, .plain).text }
  }

  private var four: [ObserveProgress.Relay] {
    [
      relay("a", .stored, events: 20), relay("b", .refused, "restricted: \u{1B}no"),
      relay("long.name", .asked, events: 1),
      relay("down", .waiting, "look up down.example: no such host"),
    ]
  }

  @Test("Each relay has a line: how far it is, what it has brought, why it does not")
  func lines() {
    #expect(
      text(four) == [
        "done     wss://a.example          20 events", "refused  wss://b.example          restricted: \\eno",
        "asked    wss://long.name.example  1 event", "waiting  wss://down.example       no such host",
      ])
    #expect(
      text([relay("a-name-that-is-long", .asked, events: 2)], columns: 40) == ["asked    wss://a-name-th…  2 events"])
    #expect(text([]).isEmpty)
  }

  @Test("Of many relays those are shown that are not done, and the rest is summed up")
  func many() {
    let relays = (0..<9).map { relay("r\($0)", .stored) } + [relay("slow", .asked), relay("new", .waiting)]
    let lines = text(relays)
    #expect(lines.count == LiveBlock.lineMaximum && lines[0] == "asked    wss://slow.example")
    #expect(lines[1] == "waiting  wss://new.example" && lines.last == "and 4 more: 4 done")
  }

  @Test("In the end one sentence says who has sent what, and who has not and why")
  func summary() {
    func sentence(_ relays: [ObserveProgress.Relay]) -> String {
      FetchText.summary(progress(relays), .plain).joined(separator: "|")
    }
    #expect(
      sentence(four)
        == "-- 4 relays asked: 1 done, 20 events; 1 still answering; 1 refused (wss://b.example: restricted: \\eno); "
        + "1 unreachable (wss://down.example: no such host)")
    #expect(sentence([relay("a", .stored, events: 1)]) == "-- 1 relay asked: 1 done, 1 event")
    let dead = (0..<5).map { relay("r\($0)", .waiting, "no") }
    #expect(
      sentence(dead).hasSuffix(
        "5 unreachable (wss://r0.example: no; wss://r1.example: no; wss://r2.example: no; and 2 more)"))
    #expect(sentence([]).hasPrefix("-- no relay was asked"))
    let narrow = FetchText.summary(progress(four), Style(isColoured: false, columns: 60))
    #expect(narrow.count == 3 && narrow.allSatisfy { $0.count <= 60 })
  }

  @Test("Without a terminal a relay that refuses or cannot be asked is told once, and no other")
  func news() {
    var news = FetchNews()
    #expect(news.lines(progress([relay("a", .waiting), relay("b", .asked)])).isEmpty)
    let told = ["wss://b.example refuses: restricted: \\eno", "wss://down.example cannot be asked yet: no such host"]
    #expect(news.lines(progress(four)) == told)
    #expect(news.lines(progress(four)).isEmpty)
    #expect(news.lines(progress([relay("down", .refused, "other")])).isEmpty)
  }
}
