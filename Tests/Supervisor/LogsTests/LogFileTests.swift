import Clocks
import Contracts
import EventLoop
import Frames
import Glibc
import LinuxSystem
import Logs
import Synchronization
import TestSupport
import Testing

@Suite("A log file") struct LogFileTests {
  @Test("holds one JSON object a line, in order, readable by nobody else")
  func lines() async throws {
    let directory = try TemporaryDirectory()
    try await LoopThread.run { [path = directory.path] () async throws in
      let file = logFile(in: path + "/logs")
      let records = ["plain", "two\nlines", "\0\u{1B}[31m", "ä"].map { record($0) }
      for record in records { file.append(record) }
      #expect(await file.flush(until: deadline(20)))
      #expect(try self.records(in: path + "/logs/w.log") == records)
      var status = stat()
      #expect(stat(path + "/logs/w.log", &status) == 0 && status.st_mode & 0o777 == 0o600)
    }
  }

  @Test("keeps size × count at every moment, whatever the sizes of records, and loses only the oldest")
  func rotation() async throws {
    let directory = try TemporaryDirectory()
    let seed = seeds(1)[0]
    try await LoopThread.run { [path = directory.path] () async throws in
      var random = SeededGenerator(seed: seed)
      let limits = RotationLimits(rotateByteCount: 10_000, keptFileCount: 3)
      let file = logFile(in: path, limits: limits)
      for index in 0..<600 {
        file.append(record("\(index) " + String(repeating: "x", count: Int.random(in: 0...3_000, using: &random))))
        guard index.isMultiple(of: 7) else { continue }
        #expect(await file.flush(until: deadline(20)))
        let sizes = try logFiles(in: path).map { text(of: "\(path)/\($0)").utf8.count }
        #expect(sizes.count <= 4 && sizes.allSatisfy { $0 <= 10_000 }, "seed \(seed)")
      }
      #expect(await file.flush(until: deadline(20)))
      #expect(try logFiles(in: path) == ["w.log", "w.log.1", "w.log.2", "w.log.3"])
      let kept = try ["w.log.3", "w.log.2", "w.log.1", "w.log"].flatMap { try self.records(in: "\(path)/\($0)") }
      let indexes = kept.compactMap { $0.message.split(separator: " ").first.flatMap { Int($0) } }
      #expect(indexes == Array((600 - indexes.count)..<600), "seed \(seed)")
      #expect(file.lostRecordCount == 0)
    }
  }

  @Test("removes files beyond a lowered count, keeps none if told so, and leaves out what no file can hold")
  func lowered() async throws {
    let directory = try TemporaryDirectory()
    for number in 1...5 { try write("old\n", to: "\(directory.path)/w.log.\(number)") }
    try write("not ours", to: "\(directory.path)/w.log.old")
    try await LoopThread.run { [path = directory.path] () async throws in
      let file = logFile(in: path, limits: RotationLimits(rotateByteCount: 4_096, keptFileCount: 2))
      for _ in 0..<3 { file.append(record(String(repeating: "x", count: 3_000))) }
      file.append(record(String(repeating: "y", count: 5_000)))
      #expect(await file.flush(until: deadline(20)))
      #expect(try logFiles(in: path) == ["w.log", "w.log.1", "w.log.2", "w.log.old"])
      #expect(file.lostRecordCount == 1)
      #expect(text(of: path + "/w.log").contains("1 line missing here"))
      file.limits = RotationLimits(rotateByteCount: 4_096, keptFileCount: 0)
      for _ in 0..<2 { file.append(record(String(repeating: "x", count: 3_000))) }
      #expect(await file.flush(until: deadline(20)))
      #expect(try logFiles(in: path) == ["w.log", "w.log.old"])
    }
  }

  @Test("on a full disk gives one alarm, forgets nothing in silence, and goes on when there is room")
  func fullDevice() async throws {
    let directory = try TemporaryDirectory()
    try await LoopThread.run { [path = directory.path] () async throws in
      #expect(symlink("/dev/full", path + "/w.log") == 0)
      let file = logFile(in: path)
      var notes: [LogMessage] = []
      file.onNote = { notes.append($0) }
      for index in 0..<10 {
        file.append(record("\(index)"))
        _ = await file.flush(until: deadline(20))
      }
      #expect(file.isFailing && file.lostRecordCount == 10)
      #expect(notes.count == 1 && notes.first?.level == .error)
      #expect(notes.first?.message.contains("No space left on device") == true)
      unlink(path + "/w.log")
      try await eventually("a retry succeeds") { !file.isFailing }
      #expect(notes.map(\.level) == [.error, .notice])
      file.append(record("after"))
      #expect(await file.flush(until: deadline(20)))
      let messages = try records(in: path + "/w.log").map(\.message)
      #expect(messages == ["10 lines missing here: this file could not be written", "after"])
    }
  }

  @Test("ends with a whole line though the disk took half of one, and after a crash left half of one")
  func wholeLines() async throws {
    let directory = try TemporaryDirectory()
    try write(#"{"half":"#, to: directory.path + "/w.log")
    try await LoopThread.run { [path = directory.path] () async throws in
      let files = FaultyFiles()
      let file = logFile(in: path, files: files)
      file.append(record("first"))
      #expect(await file.flush(until: deadline(20)))
      #expect(text(of: path + "/w.log").hasPrefix("{\"half\":\n{"))
      let before = text(of: path + "/w.log")
      files.leaveRoom(50)
      file.append(record("second"))
      #expect(await file.flush(until: deadline(20)) == false)
      #expect(text(of: path + "/w.log") == before)
      files.heal()
      file.reopen()
      #expect(await file.flush(until: deadline(20)))
      #expect(text(of: path + "/w.log").contains("1 line missing here"))
    }
  }

  @Test("counts right whichever single call of the system fails: each record is in the file or told as missing")
  func eachCallFailsOnce() async throws {
    var failing = 0
    var isBeyondLastCall = false
    while !isBeyondLastCall {
      let directory = try TemporaryDirectory()
      isBeyondLastCall = try await LoopThread.run { [path = directory.path, failing] () async throws in
        let files = FaultyFiles()
        let file = logFile(in: path, limits: RotationLimits(rotateByteCount: 4_096, keptFileCount: 50), files: files)
        files.fail(failing..<(failing + 1))
        for index in 0..<24 {
          file.append(record("\(index) " + String(repeating: "x", count: 900)))
          _ = await file.flush(until: deadline(20))
          if file.isFailing { file.reopen() }
        }
        #expect(await file.flush(until: deadline(20)), "call \(failing)")
        let written = try logFiles(in: path).flatMap { try self.records(in: "\(path)/\($0)") }
        let told = written.filter { $0.category == "log" }.compactMap { record in
          record.message.split(separator: " ").first.flatMap { Int($0) }
        }
        let present = written.filter { $0.category != "log" }.map(\.message)
        #expect(Set(present).count == present.count, "call \(failing)")
        #expect(present.count + told.reduce(0, +) == 24, "call \(failing)")
        #expect(file.lostRecordCount == UInt64(24 - present.count), "call \(failing)")
        let sizes = try logFiles(in: path).map { text(of: "\(path)/\($0)").utf8.count }
        #expect(sizes.allSatisfy { $0 <= 4_096 }, "call \(failing)")
        return files.callCount <= failing
      }
      failing += 1
    }
    #expect(failing > 60)
  }

  @Test("on a disk that hangs holds a bounded number of lines, and a flush gives up at its deadline")
  func hangingDisk() async throws {
    let directory = try TemporaryDirectory()
    try await LoopThread.run { [path = directory.path] () async throws in
      let files = FaultyFiles()
      let file = logFile(in: path, files: files)
      files.isHanging = true
      file.append(record("first"))
      #expect(await file.flush(until: deadline(0.05)) == false)
      let text = String(repeating: "x", count: 10_000)
      for _ in 0..<1_000 { file.append(record(text)) }
      #expect(file.lostRecordCount > 850 && file.lostRecordCount < 1_000)
      files.isHanging = false
      #expect(await file.flush(until: deadline(20)))
      let written = try records(in: path + "/w.log")
      #expect(written.count == 1_002 - Int(file.lostRecordCount))
      #expect(
        written.last?.message == "\(file.lostRecordCount) lines missing here: they came faster than the disk took them")
    }
  }

  @Test("is opened anew by its name when asked, and when somebody has removed it")
  func reopen() async throws {
    let directory = try TemporaryDirectory()
    try await LoopThread.run { [path = directory.path] () async throws in
      let file = logFile(in: path)
      file.append(record("one"))
      #expect(await file.flush(until: deadline(20)))
      #expect(rename(path + "/w.log", path + "/moved") == 0)
      file.append(record("two"))
      #expect(await file.flush(until: deadline(20)))
      #expect(try records(in: path + "/moved").map(\.message) == ["one", "two"])
      file.reopen()
      file.append(record("three"))
      #expect(await file.flush(until: deadline(20)))
      unlink(path + "/w.log")
      file.append(record("four"))
      #expect(await file.flush(until: deadline(20)))
      #expect(try records(in: path + "/w.log").map(\.message) == ["four"])
    }
  }

  private func records(in path: String) throws -> [LogRecord] {
    try text(of: path).split(separator: "\n").filter { $0.hasPrefix("{\"category") }.map {
      try JSONPayload.decode(LogRecord.self, from: $0.utf8)
    }
  }
}

@EventLoopActor
private func logFile(
  in directory: String, limits: RotationLimits = RotationLimits(), files: any FileOperations = SystemFiles()
) -> LogFile {
  LogFile(directory: directory, name: "w.log", limits: limits, files: files) { message in
    LogRecord(
      time: "t", worker: "w", level: message.level.rawValue, category: message.category, message: message.message)
  }
}

func logFiles(in directory: String) throws -> [String] {
  try SystemFiles().names(in: directory).filter { $0.hasPrefix("w.log") }.sorted()
}

func deadline(_ seconds: Double) -> Instant { EventLoop.process.now.advanced(milliseconds: UInt64(seconds * 1_000)) }
