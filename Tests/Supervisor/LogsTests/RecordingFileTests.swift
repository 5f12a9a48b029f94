import EventLoop
import Glibc
import LinuxSystem
import Logs
import TestSupport
import Testing

@Suite("A recording's file") struct RecordingFileTests {
  @Test("holds what was given, in order, readable by nobody else, and is made over no other file")
  func whole() async throws {
    let directory = try TemporaryDirectory()
    try await LoopThread.run { [path = directory.path + "/r"] () async throws in
      let file = RecordingFile(path: path)
      try await file.create()
      for number in 0..<1_000 { file.append(Array("\(number),".utf8)) }
      #expect(await file.finish() == nil)
      #expect(text(of: path) == (0..<1_000).map { "\($0)," }.joined())
      var status = stat()
      #expect(stat(path, &status) == 0 && status.st_mode & 0o777 == 0o600)
      let second = RecordingFile(path: path)
      await #expect(throws: SystemFault.self) { try await second.create() }
      await second.discard()
      #expect(text(of: path).hasPrefix("0,1,"), "what it did not make it does not remove")
    }
  }

  @Test("takes no more than its bound while the disk hangs, and never waits for it")
  func hanging() async throws {
    let directory = try TemporaryDirectory()
    try await LoopThread.run { [path = directory.path + "/r"] () async throws in
      let files = FaultyFiles()
      let file = RecordingFile(path: path, files: files)
      try await file.create()
      files.isHanging = true
      let callCount = files.callCount
      let piece = [UInt8](repeating: 65, count: 1 << 20)
      file.append(piece)
      // From here on pieces wait.
      try await eventually("the first piece is being written") { files.callCount > callCount }
      var taken = 1
      while file.hasRoom(for: piece.count) {
        file.append(piece)
        taken += 1
      }
      #expect(taken == 1 + RecordingFile.pendingByteCountMaximum / piece.count)
      files.isHanging = false
      #expect(await file.finish() == nil)
      #expect(text(of: path).utf8.count == taken * piece.count)
    }
  }

  @Test("ends at the first fault, tells it once, and keeps the beginning of what was given")
  func full() async throws {
    let directory = try TemporaryDirectory()
    try await LoopThread.run { [path = directory.path + "/r"] () async throws in
      let files = FaultyFiles()
      let file = RecordingFile(path: path, files: files)
      var faults: [SystemFault] = []
      file.onFault = { faults.append($0) }
      try await file.create()
      files.leaveRoom(10)
      file.append(Array("0123456789abcdef".utf8))
      #expect(await file.finish()?.code == ENOSPC && file.byteCount == 10)
      files.heal()
      #expect(faults.count == 1 && !file.hasRoom(for: 1))
      file.append(Array("more".utf8))
      #expect(await file.finish()?.code == ENOSPC)
      #expect(text(of: path) == "0123456789")
    }
  }
}
