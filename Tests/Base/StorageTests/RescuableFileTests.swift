import Glibc
import Storage
import TestSupport
import Testing

// A database is a text here; one that begins with a cross is damaged.

@Suite("A file that is rescued when it is damaged")
struct RescuableFileTests {
  private let directory: TemporaryDirectory
  private var path: String { directory.path + "/jobs.db" }
  private var file: RescuableFile { RescuableFile(path: path) }

  init() throws { directory = try TemporaryDirectory() }

  private func write(_ text: String, _ path: String) {
    guard let file = fopen(path, "w") else { return }
    fputs(text, file)
    fclose(file)
  }

  private func text(_ path: String) -> String? {
    guard let file = fopen(path, "r") else { return nil }
    defer { fclose(file) }
    var bytes = [UInt8](repeating: 0, count: 64)
    let count = fread(&bytes, 1, bytes.count, file)
    return String(decoding: bytes.prefix(count), as: UTF8.self)
  }

  /// Opens it, and refills a damaged one with what stands behind its cross.
  private func open(now: Int64, refilledWith damage: String = "") throws(StorageFault) -> (String, Quarantine?) {
    try file.open(now: now) { (path) throws(StorageFault) in
      let text = text(path) ?? "new"
      guard text.first != "x" else { throw StorageFault(.corrupt, path: path, "a cross") }
      return text
    } refill: { (unfinished, damaged) throws(StorageFault) in
      write(damage + String((text(damaged.path) ?? "").drop { $0 == "x" }), unfinished)
    }
  }

  @Test("is put aside, and is whole again")
  func rescues() throws {
    write("xone", path)
    let (text, quarantine) = try open(now: 7)
    #expect(text == "one" && quarantine?.path == path + ".damaged-7" && quarantine?.isRefilled == false)
    #expect(try open(now: 8).1 == nil)
  }

  @Test("is rescued again when it is damaged a second time in the same second", arguments: [false, true])
  func sameSecond(isFoundInUse: Bool) throws {
    write("xone", path)
    _ = try open(now: 7)
    write("xtwo", path)
    if isFoundInUse { file.markDamaged() }
    let (text, quarantine) = try open(now: 7)
    #expect(text == "two" && quarantine?.path == path + ".damaged-8" && quarantine?.time == 8)
    #expect(self.text(path + ".damaged-7") == "xone" && self.text(path + ".damaged-8") == "xtwo")
    #expect(try open(now: 9).1 == nil)
  }

  @Test("that was found damaged in use is rescued, also when it can be opened and the second was used before")
  func foundInUse() throws {
    write("xone", path)
    _ = try open(now: 7)
    file.markDamaged()
    let (text, quarantine) = try open(now: 7)
    #expect(text == "one" && quarantine?.time == 8 && quarantine?.isRefilled == false)
  }

  @Test("is rescued anew when what it was filled with is damaged")
  func refilledDamaged() throws {
    write("xone", path)
    #expect(throws: StorageFault.self) { try open(now: 7, refilledWith: "x") }
    #expect(text(path) == "xone" && text(path + ".damaged-7") == "xone")
    let (text, quarantine) = try open(now: 7)
    #expect(text == "one" && quarantine?.time == 8 && quarantine?.isRefilled == false)
    #expect(try open(now: 9).1 == nil)
  }

  @Test("that a death left filled and marked is opened as it is")
  func leftMarked() throws {
    write("xone", path + ".damaged-7")
    write("7", path + ".is-damaged")
    write("one", path)
    let (text, quarantine) = try open(now: 9)
    #expect(text == "one" && quarantine?.time == 7 && quarantine?.isRefilled == true)
    #expect(try open(now: 10).1 == nil)
  }

  @Test("that has no bytes is put aside with its log, and told to be empty")
  func empty() throws {
    write("", path)
    write("log", path + "-wal")
    write("journal", path + "-journal")
    let (text, quarantine) = try open(now: 7, refilledWith: "one")
    #expect(text == "one" && quarantine?.path == path + ".damaged-7" && quarantine?.isEmpty == true)
    #expect(self.text(path + ".damaged-7") == "" && self.text(path + ".damaged-7-wal") == "log")
    #expect(access(path + "-wal", F_OK) != 0 && access(path + "-journal", F_OK) != 0)
    #expect(try open(now: 8).1 == nil)
  }

  @Test("that a death left without bytes while it was first made is begun again, and nothing is told")
  func emptyAtFirst() throws {
    #expect(throws: StorageFault.self) {
      try file.open(now: 7) { (path) throws(StorageFault) in
        write("", path)
        throw StorageFault(.full, path: path, "no room")
      } refill: { _, _ in
      }
    }
    #expect(text(path) == "")
    #expect(try open(now: 8).1 == nil)
    // From then on it has been there.
    #expect(try open(now: 9, refilledWith: "one").1?.isEmpty == true)
  }

  @Test("that a death left half put aside goes to the place that was written down")
  func leftHalf() throws {
    write("log", path + ".damaged-7-wal")
    write("7", path + ".is-damaged")
    write("xone", path)
    let (text, quarantine) = try open(now: 9)
    #expect(text == "one" && quarantine?.path == path + ".damaged-7")
    #expect(self.text(path + ".damaged-7-wal") == "log")
  }
}
