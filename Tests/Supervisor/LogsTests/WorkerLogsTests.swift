import Clocks
import EventLoop
import Frames
import Contracts
import Glibc
import LinuxSystem
import Logs
import Testing

@testable import TestSupport

@Suite("The book of logs") struct WorkerLogsTests {
  @Test("merges all workers in the order of arrival, and tells one alone")
  func tail() async throws {
    try await LoopThread.run { () async throws in
      let book = memoryBook()
      for index in 0..<9 { book.append(worker: "w\(index % 3)", LogMessage(.info, "c", "\(index)")) }
      #expect(book.tail(lines: 4).map(\.record.message) == ["5", "6", "7", "8"])
      #expect(book.tail(worker: "w1", lines: 2).map(\.record.message) == ["4", "7"])
      #expect(book.tail(worker: "nobody", lines: 2).isEmpty)
      #expect(book.tail(lines: 1).first?.record.time == "2026-03-01T12:00:00.000Z")
    }
  }

  @Test("tells followers what arrives from then on, once, also when a follower writes itself")
  func follow() async throws {
    try await LoopThread.run { () async throws in
      let book = memoryBook()
      book.append(worker: "a", LogMessage(.info, "c", "before"))
      var all: [String] = []
      var one: [String] = []
      let follower = book.follow { entries in
        all += entries.map(\.record.message)
        if all.count == 2 { book.append(worker: "roostd", LogMessage(.info, "c", "echo")) }
      }
      _ = book.follow(worker: "b") { one += $0.map(\.record.message) }
      book.append(worker: "a", LogMessage(.info, "c", "1"))
      book.append(worker: "b", LogMessage(.info, "c", "2"))
      try await eventually("the echo") { all.count == 3 }
      #expect(all == ["1", "2", "echo"])
      book.unfollow(follower)
      book.append(worker: "b", LogMessage(.info, "c", "3"))
      try await eventually("the other") { one.count == 2 }
      #expect(one == ["2", "3"] && all.count == 3)
    }
  }

  @Test("gives a reader who comes back the rest and the number of records it has missed, of all or of one")
  func pages() async throws {
    try await LoopThread.run { () async throws in
      let book = memoryBook()
      for index in 0..<1_400 {
        book.append(worker: index.isMultiple(of: 2) ? "a" : "b", LogMessage(.info, "c", "\(index)"))
      }
      let all = book.entries(afterArrival: 100, limit: 10)
      #expect(all.missedCount == 300 && all.entries.map(\.arrival) == Array(401...410))
      let next = book.entries(afterArrival: 410, limit: 2_000)
      #expect(next.missedCount == 0 && next.entries.count == 990)
      let one = book.entries(of: "b", afterNumber: 150, limit: 5)
      #expect(one.missedCount == 50 && one.entries.map(\.number) == Array(201...205))
    }
  }

  @Test("changes levels while it runs, writes each worker's file, and no name leads out of the directory")
  func filesAndLevels() async throws {
    let directory = try TemporaryDirectory()
    try await LoopThread.run { [path = directory.path] () async throws in
      let book = WorkerLogs(settings: WorkerLogSettings(directory: path + "/logs"))
      book.append(worker: "w", LogMessage(.debug, "relay", "unseen"))
      #expect(book.setLevel("relay", .debug))
      book.append(worker: "w", LogMessage(.debug, "relay", "seen", fields: ["k": "v"]))
      book.append(worker: "../x/..", LogMessage(.info, "c", "m"))
      #expect(await book.flush(until: deadline(20)))
      #expect(try SystemFiles().names(in: path + "/logs").sorted() == ["%2E.%2Fx%2F...log", "w.log"])
      let lines = text(of: path + "/logs/w.log").split(separator: "\n")
      let written = try lines.map { try JSONPayload.decode(LogRecord.self, from: $0.utf8) }
      #expect(written == book.tail(worker: "w", lines: 9).map(\.record))
      #expect(written.map(\.message) == ["seen"] && written.first?.fields == ["k": "v"])
    }
  }

  @Test("says in memory that a file cannot be written, and keeps the lines there")
  func alarm() async throws {
    let directory = try TemporaryDirectory()
    try await LoopThread.run { [path = directory.path] () async throws in
      let files = FaultyFiles()
      files.failFromNowOn()
      let book = WorkerLogs(settings: WorkerLogSettings(directory: path), files: files)
      for index in 0..<3 { book.append(worker: "w", LogMessage(.info, "c", "\(index)")) }
      #expect(await book.flush(until: deadline(20)) == false)
      let messages = book.tail(worker: "w", lines: 9).map(\.record.message)
      #expect(messages.prefix(3) == ["0", "1", "2"] && messages.count == 4)
      #expect(messages.last?.contains("cannot be written") == true)
      #expect(book.lostRecordCount(of: "w") == 3)
    }
  }

  @Test("keeps workers beyond the maximum in one log together")
  func manyWorkers() async throws {
    try await LoopThread.run { () async throws in
      let book = memoryBook()
      for index in 0..<400 { book.append(worker: "w\(index)", LogMessage(.info, "c", "m")) }
      #expect(book.tail(worker: WorkerLogs.overflowJournal, lines: 500).count == 400 - WorkerLogs.journalCountMaximum)
      #expect(book.tail(lines: 1).first?.record.worker == "w399")
    }
  }
}

@Suite("The pipe of a worker") struct LogPipeTests {
  @Test("brings its lines to the book, plain and structured, and the last without a newline")
  func lines() async throws {
    try await LoopThread.run { () async throws in
      let book = memoryBook()
      let pair = try Descriptors.pipe()
      let pipe = try LogPipe(descriptor: pair.first, worker: "w", source: .standardError, book: book)
      try Descriptors.writeAll(
        "one\n{\"level\":\"error\",\"category\":\"c\",\"message\":\"two\"}\nthr", to: pair.second)
      try await eventually("two lines") { book.tail(lines: 9).count == 2 }
      try Descriptors.writeAll("ee", to: pair.second)
      Descriptors.close(pair.second)
      try await eventually("the end") { pipe.isClosed }
      #expect(book.tail(lines: 9).map(\.record.message) == ["one", "two", "three"])
      #expect(book.tail(lines: 9).map(\.record.level) == ["notice", "error", "notice"])
    }
  }

  @Test("never holds a worker back: a flood is read to its end, the loop goes on, and what was dropped is told")
  func flood() async throws {
    try await LoopThread.run { () async throws in
      let book = memoryBook()
      let pair = try Descriptors.pipe()
      let pipe = try LogPipe(descriptor: pair.first, worker: "w", source: .standardOutput, book: book)
      var longestTurn: UInt64 = 0
      let byteCount = 20_000_000
      // A thread of its own: the pool's are few, and other tests keep them for minutes.
      let writer = JoinedThread {
        let block = Array((String(repeating: "y", count: 99) + "\n").utf8)
        let blocks = Array(repeating: block, count: 1_000).flatMap { $0 }
        for _ in 0..<(byteCount / blocks.count) {
          do { try blocks.withUnsafeBytes { try Descriptors.writeAll($0, to: pair.second) } } catch {
            Issue.record("the flood could not be written: \(error)")
          }
        }
        Descriptors.close(pair.second)
      }
      try await eventually(
        within: 120, "the end of the flood",
        {
          let before = EventLoop.process.now
          await EventLoopActor.sleep(milliseconds: 1)
          longestTurn = max(longestTurn, EventLoop.process.now.milliseconds(since: before))
          return pipe.isClosed
        })
      writer.join()
      #expect(longestTurn < 2_000)
      _ = await book.flush(until: deadline(1))
      let dropped = book.droppedLineCount(of: "w")
      #expect(dropped > 0 && book.lastArrival >= UInt64(byteCount / 100) - dropped + 1)
      #expect(book.tail(lines: 500).contains { $0.record.message.contains("lines dropped in") })
    }
  }

  @Test("is closed a second after its worker's end though a descendant holds it, with the last words taken")
  func descendant() async throws {
    try await LoopThread.run { () async throws in
      let book = memoryBook()
      let pair = try Descriptors.pipe()
      let pipe = try LogPipe(descriptor: pair.first, worker: "w", source: .standardOutput, book: book)
      var didEnd = false
      pipe.onEnd = { didEnd = true }
      try Descriptors.writeAll("last words", to: pair.second)
      let before = EventLoop.process.now
      pipe.workerEnded()
      try await eventually("closed") { didEnd }
      #expect(EventLoop.process.now.milliseconds(since: before) >= 900)
      #expect(book.tail(lines: 9).map(\.record.message) == ["last words"])
      #expect(pipe.isClosed)
      // Nobody can read it any more: the descriptor is closed indeed.
      #expect(throws: SystemFault.self) { try Descriptors.writeAll("more", to: pair.second) }
      Descriptors.close(pair.second)
    }
  }
}

@EventLoopActor
private func memoryBook() -> WorkerLogs {
  WorkerLogs(settings: WorkerLogSettings(directory: nil)) { WallTime(milliseconds: 1_772_366_400_000) }
}
