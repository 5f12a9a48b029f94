import BackupShelf
import Testing

@Suite("The backups in a directory")
struct BackupShelfTests {
  private static func names(_ times: Int64...) -> [String] { times.map { BackupShelf.name(at: $0, isSealed: false) } }

  @Test("have names with their time; no other file counts as one")
  func names() {
    #expect(BackupShelf.name(at: 1_795_797_000, isSealed: false) == "roost-2026-11-27T16-30-00Z.tar")
    #expect(BackupShelf.name(at: 0, isSealed: true) == "roost-1970-01-01T00-00-00Z.sealed")
    let others = [
      "roost.tar", "roost-2026-11-27T16-30-00Z.tar.part", "roost-2026-13-27T16-30-00Z.tar", "roost-2026-11-27.tar", "a",
      "roost-2026-11-27T16-30-00.tar", "",
    ]
    let shelf = BackupShelf(names: others + Self.names(90, 30, 60))
    #expect(shelf.backups.map(\.time) == [30, 60, 90])
  }

  @Test("say when the next one is due: at once without any, and not later because of a time that is still to come")
  func due() {
    #expect(BackupShelf(names: []).nextAt(everySeconds: 100, now: 7) == 7)
    #expect(BackupShelf(names: Self.names(30, 60)).nextAt(everySeconds: 100, now: 70) == 160)
    #expect(BackupShelf(names: Self.names(30, 60)).nextAt(everySeconds: 100, now: 50) == 130)
    #expect(BackupShelf(names: Self.names(60)).nextAt(everySeconds: 100, now: 50) == 50)
  }

  @Test("lose the oldest when there are too many; the latest always stays")
  func surplus() {
    let shelf = BackupShelf(names: Self.names(30, 60, 90))
    #expect(shelf.surplus(keep: 2).map(\.time) == [30])
    #expect(shelf.surplus(keep: 3).isEmpty && shelf.surplus(keep: 10).isEmpty)
    #expect(shelf.surplus(keep: 0).map(\.time) == [30, 60])
  }
}
