import Clocks
import Contracts
import Cryptography
import EventLoop
import Frames
import Glibc
import TestSupport
import Testing

@testable import Backups

@Suite("A backup", .serialized)
struct BackupTests {
  private static func passphrase(_ text: String = "geheim") -> Passphrase {
    guard let passphrase = Array(text.utf8).withUnsafeBytes({ try? Passphrase(utf8: $0) }) else {
      preconditionFailure("it is a passphrase")
    }
    return passphrase
  }

  /// Makes a backup on the loop; what it needs time for is on other threads.
  private static func make(
    _ source: FakeBackupSource, _ path: String, _ secret: Passphrase? = nil
  ) async throws -> (summary: BackupSummary, isContinued: Bool) {
    try await LoopThread.run {
      let making = BackupMaking(source, path: path, passphrase: secret)
      making.logN = 10
      return (try await making.make(), making.isContinued)
    }
  }

  private static func change(
    _ source: FakeBackupSource, _ body: @escaping @Sendable @EventLoopActor (FakeBackupSource) -> Void
  ) async throws {
    try await LoopThread.run { body(source) }
  }

  private static func source() async throws -> FakeBackupSource { try await LoopThread.run { Self.standard() } }

  @EventLoopActor
  private static func standard() -> FakeBackupSource {
    let source = FakeBackupSource()
    source.workers["event-store"] = .init(files: ["events.db": (0..<200_000).map { UInt8(truncatingIfNeeded: $0 / 7) }])
    source.workers["signer"] = .init(role: "signer", files: ["keys/alice.key": Array("key\n".utf8), "empty": []])
    // A worker of the user's own, whose folder nothing asks for.
    source.workers["notes"] = .init(role: "example")
    source.workers["relay-connector"] = .init(role: "relay-connector", state: .backoff)
    return source
  }

  private static func bytes(_ path: String) -> [UInt8] {
    guard let file = fopen(path, "re") else { return [] }
    defer { fclose(file) }
    var bytes = [UInt8](repeating: 0, count: 4 << 20)
    return Array(bytes[..<fread(&bytes, 1, bytes.count, file)])
  }

  private static func write(_ bytes: [UInt8], _ path: String) {
    guard let file = fopen(path, "we") else { return }
    fwrite(bytes, 1, bytes.count, file)
    fclose(file)
  }

  private static func check(_ path: String, _ secret: Passphrase? = nil) throws(BackupFault) -> BackupSummary {
    try BackupInput(path: path) { secret }.check()
  }

  private static func fault(_ path: String, _ secret: Passphrase? = nil) -> BackupFault? {
    do throws(BackupFault) { _ = try check(path, secret) } catch { return error }
    return nil
  }

  @Test("holds every file, sealed or not, and is restored as it was", arguments: [false, true])
  func whole(isSealed: Bool) async throws {
    let directory = try TemporaryDirectory()
    let (path, secret) = (directory.path + "/backup", isSealed ? Self.passphrase() : nil)
    let source = try await Self.source()
    try await Self.change(source) { $0.folders = ["event-store", "former", "notes", "relay-connector", "signer"] }
    let summary = try await Self.make(source, path, secret).summary
    #expect(summary.manifest.leftOut == ["former", "notes"])
    #expect(await source.kept.isEmpty)
    #expect(try Self.check(path, secret) == summary)
    #expect(isSealed == !Self.bytes(path).starts(with: Array("manifest.json".utf8)))
    let restoring = BackupRestoring(
      path: path, state: directory.path + "/state", configuration: directory.path + "/conf/supervisor.conf")
    let outcome = try restoring.restore(passphrase: { secret })
    #expect(outcome.backup == summary && !outcome.isConfigurationAside)
    for (name, worker) in await source.workers {
      for (file, bytes) in worker.files { #expect(Self.bytes("\(directory.path)/state/\(name)/\(file)") == bytes) }
    }
    #expect(Self.bytes(directory.path + "/conf/supervisor.conf") == Array("[supervisor]\n".utf8))
    // The same configuration is no other one.
    let again = BackupRestoring(
      path: path, state: directory.path + "/again", configuration: directory.path + "/conf/supervisor.conf")
    #expect(try !again.restore(passphrase: { secret }).isConfigurationAside)
    // Nor is a link a place: it could not be replaced in one step.
    symlink(directory.path + "/nowhere", directory.path + "/link")
    let linked = BackupRestoring(
      path: path, state: directory.path + "/link", configuration: directory.path + "/untouched")
    #expect(throws: BackupFault.self) { try linked.restore(passphrase: { secret }) }
    #expect(access(directory.path + "/untouched", F_OK) != 0)
    // A place that is not empty stays as it is.
    #expect(throws: BackupFault.self) { try restoring.restore(passphrase: { secret }) }
    // Nor is another configuration replaced.
    let elsewhere = BackupRestoring(path: path, state: directory.path + "/other", configuration: path)
    #expect(try elsewhere.restore(passphrase: { secret }).configuration == path + ".restored")
  }

  @Test("that was interrupted after any part is continued, and is the same", arguments: [false, true])
  func interrupted(isSealed: Bool) async throws {
    let directory = try TemporaryDirectory()
    let secret = isSealed ? Self.passphrase() : nil
    // Of a sealed backup the first 64 KiB are on the disk or nothing.
    for partCount in isSealed ? [70, 150, 201] : [0, 1, 3, 70, 150, 199, 200, 201] {
      let path = "\(directory.path)/backup-\(partCount)"
      let source = try await Self.source()
      try await Self.change(source) { $0.partsLeft = partCount }
      await #expect(throws: BackupRefusal.self) {
        try await Self.make(source, path, secret).summary
      }
      #expect(access(path, F_OK) != 0, "half a backup has not the name of one")
      // Written after the moment of the backup.
      try await Self.change(source) { $0.workers["event-store"]?.files["events.db"] = [1] }
      try await Self.change(source) { $0.partsLeft = .max }
      let (summary, isContinued) = try await Self.make(source, path, secret)
      let holdCount = await source.holds.count
      #expect(isContinued && holdCount == 2, "\(partCount)")
      #expect(try Self.check(path, secret) == summary)
      #expect(summary.byteCount > 200_000)
      #expect(access(path + ".part", F_OK) != 0)
      // Killed when all was written, but before the file had its name.
      rename(path, path + ".part")
      #expect(try await Self.make(source, path, secret).summary == summary)
      #expect(try Self.check(path, secret) == summary)
      // Killed within the end.
      rename(path, path + ".part")
      truncate(path + ".part", Self.bytes(path + ".part").count - 600)
      #expect(try await Self.make(source, path, secret).summary.manifest.format == 1)
    }
  }

  @Test("begins again when its workers no longer keep the state, or the rest is of another kind")
  func begunAgain() async throws {
    let directory = try TemporaryDirectory()
    let path = directory.path + "/backup"
    let source = try await Self.source()
    try await Self.change(source) { $0.partsLeft = 100 }
    await #expect(throws: BackupRefusal.self) { try await Self.make(source, path).summary }
    try await Self.change(source) { $0.forget() }
    try await Self.change(source) { $0.partsLeft = .max }
    try await Self.change(source) { $0.workers["event-store"]?.files["events.db"] = [1] }
    let (summary, isContinued) = try await Self.make(source, path)
    let holdCount = await source.holds.count
    #expect(summary.byteCount < 10_000 && !isContinued && holdCount == 4)
    Self.write(Array("something else".utf8), directory.path + "/other.part")
    #expect(try await Self.make(source, directory.path + "/other").summary.fileCount == 6)
  }

  @Test("is of one moment: a worker that was not held until then has all held again, for longer")
  func moment() async throws {
    let directory = try TemporaryDirectory()
    let source = try await Self.source()
    try await Self.change(source) { $0.workers["signer"]?.lateCount = 2 }
    _ = try await Self.make(source, directory.path + "/a").summary
    #expect(await source.holds.map(\.milliseconds) == [1_000, 1_000, 3_000, 3_000, 9_000, 9_000])
    try await Self.change(source) { $0.workers["signer"]?.lateCount = 3 }
    await #expect(throws: BackupRefusal.self) {
      try await Self.make(source, directory.path + "/b").summary
    }
    #expect(await source.kept.isEmpty)
    #expect(access(directory.path + "/b.part", F_OK) != 0)
    // Without keys it would be no backup; with a folder of another worker it is one.
    try await Self.change(source) {
      $0.folders = ["event-store", "jobs", "signer"]
      $0.workers["jobs"] = .init(role: "dvm-tracker", state: .stopped)
    }
    #expect(try await Self.make(source, directory.path + "/d").summary.manifest.leftOut == ["jobs"])
    try await Self.change(source) { $0.workers["signer"]?.state = .stopped }
    await #expect(throws: BackupRefusal.self) { try await Self.make(source, directory.path + "/e") }
    try await Self.change(source) { $0.workers["signer"]?.state = .ready }
    // One that starts just now has files that belong into it.
    try await Self.change(source) { $0.workers["signer"]?.state = .backoff }
    await #expect(throws: BackupRefusal.self) {
      try await Self.make(source, directory.path + "/c").summary
    }
  }

  @Test("that was changed or cut off anywhere is refused, sealed or not, and nothing of it is restored")
  func damaged() async throws {
    let directory = try TemporaryDirectory()
    var random = SeededGenerator(seed: 11)
    let path = directory.path + "/bad"
    let source = try await Self.source()
    try await Self.change(source) {
      $0.workers["event-store"]?.files["events.db"] = [UInt8](repeating: 5, count: 3_000)
    }
    _ = try await Self.make(source, directory.path + "/plain").summary
    let whole = Self.bytes(directory.path + "/plain")
    var accepted = 0
    for offset in stride(from: 0, to: whole.count - 1_024, by: 37) {
      var bytes = whole
      bytes[offset] ^= 1 << UInt8.random(in: 0..<8, using: &random)
      Self.write(bytes, path)
      // A bit of a header that nothing reads (owner, mode) makes a wrong checksum all the same.
      if Self.fault(path) == nil { accepted += 1 }
      Self.write(Array(whole[..<offset]), path)
      #expect(Self.fault(path)?.kind == .unsound, "\(offset)")
    }
    #expect(accepted == 0)
    Self.write(whole + [1], path)
    #expect(Self.fault(path)?.kind == .unsound)
    Self.write([], path)
    #expect(Self.fault(path)?.kind == .unsound)
    let restoring = BackupRestoring(
      path: path, state: directory.path + "/state", configuration: directory.path + "/conf")
    #expect(throws: BackupFault.self) { try restoring.restore(passphrase: { nil }) }
    #expect(access(directory.path + "/state", F_OK) != 0 && access(directory.path + "/conf", F_OK) != 0)
    #expect(access(directory.path + "/state.restoring", F_OK) != 0)
  }

  @Test("under a passphrase opens with that one only, and is refused when it was changed or cut off")
  func sealed() async throws {
    let directory = try TemporaryDirectory()
    let (path, secret) = (directory.path + "/sealed", Self.passphrase())
    _ = try await Self.make(Self.source(), path, secret).summary
    #expect(Self.fault(path)?.kind == .sealed)
    #expect(Self.fault(path, Self.passphrase("falsch"))?.kind == .wrongPassphrase)
    let whole = Self.bytes(path)
    for (offset, kind) in [(20, BackupFault.Kind.wrongPassphrase), (100, .wrongPassphrase), (150_000, .unsound)] {
      var bytes = whole
      bytes[offset] ^= 1
      Self.write(bytes, path)
      #expect(Self.fault(path, secret)?.kind == kind, "\(offset)")
    }
    for count in [30, 56 + 65_553, 100_000, whole.count - 1] {
      Self.write(Array(whole[..<count]), path)
      #expect(Self.fault(path, secret)?.kind == .unsound, "\(count)")
    }
  }

  @Test("of a later version, or with names that lead elsewhere, is refused before anything is written")
  func foreign() async throws {
    let directory = try TemporaryDirectory()
    let path = directory.path + "/foreign"
    for (old, new, kind) in [
      ("\"format\":1", "\"format\":2", BackupFault.Kind.newer), ("\"\(RoostVersion.text)\"", "\"9.1.0\"", .newer),
      ("\"keys/alice.key\"", "\"../../../x.key\"", .unsound),
      ("\"signer\",\"role\"", "\"/etc/x\",\"role\"", .unsound),
    ] {
      let source = try await Self.source()
      _ = try await Self.make(source, path).summary
      let text = String(decoding: Self.bytes(path), as: UTF8.self)
      guard old.utf8.count == new.utf8.count else {
        Issue.record("\(new) has another length")
        continue
      }
      let bytes = Self.bytes(path)
      let place = try #require(bytes.firstRange(of: Array(old.utf8)), "\(old) is in \(text.prefix(1_500))")
      Self.write(Array(bytes[..<place.lowerBound]) + Array(new.utf8) + Array(bytes[place.upperBound...]), path)
      #expect(Self.fault(path)?.kind == kind, "\(new)")
      unlink(path)
    }
  }
}
