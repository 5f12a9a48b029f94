internal import GRDB
internal import GRDBSQLite
internal import Glibc

// The first 100 bytes of a database. SQLite believes what they say: by a changed bit it takes a file for one that may
// only be read, or for none. Most of them are the same in all of our files, so damage there is seen, and mended.
//
//     0  "SQLite format 3\0"         20  bytes left free in each page, 0     44  form of the schema, 4 (0: not yet)
//    16  page size, 4096             21  shares of a page, 64, 32, 32        56  encoding, UTF-8: 1 (0: not yet)
//    18  form for writing, 19 for reading: 1, or 2 with a log of writes     52  pages move by themselves, 0
//
// https://www.sqlite.org/fileformat.html

/// The header of a database file of ours.
enum DatabaseHeader {
  private static let byteCount = 100
  private static let magic = Array("SQLite format 3".utf8) + [0]

  /// Whether what a file begins with can be a header; a file that is too short for one, or whose first transaction is
  /// still to be rolled back, is not judged.
  static func isPlausible(ofFile path: String) -> Bool {
    guard access(path + "-journal", F_OK) != 0, let bytes = read(path) else { return true }
    return isPlausible(bytes)
  }

  private static func isPlausible(_ bytes: [UInt8]) -> Bool {
    bytes.starts(with: magic) && bytes[16..<18] == [0x10, 0] && (1...2).contains(bytes[18])
      && (1...2).contains(bytes[19]) && bytes[20..<24] == [0, 64, 32, 32]
      && bytes[44..<47] == [0, 0, 0] && (bytes[47] == 4 || bytes[47] == 0)
      && bytes[52..<56] == [0, 0, 0, 0] && bytes[56..<59] == [0, 0, 0] && bytes[59] <= 1
  }

  /// Makes the first page of a damaged file one that SQLite reads behind: its copy where there is one, else what all
  /// headers have in common. The file's size says how many pages there are, and none is free: where one is wanted while
  /// the file is read, it is a new one. Pages of the log of writes come before these, as ever.
  static func mend(ofFile path: String) {
    guard var bytes = read(path, pageByteCount) else { return }
    if let copy = copy(at: path) {
      bytes.replaceSubrange(byteCount..., with: copy[byteCount...])
      if !isPlausible(bytes) { bytes = copy }
    } else if !isPlausible(bytes) {
      bytes.replaceSubrange(0..<16, with: magic)
      bytes.replaceSubrange(16..<24, with: [0x10, 0, 2, 2, 0, 64, 32, 32])
      bytes.replaceSubrange(44..<48, with: [0, 0, 0, 4])
      bytes.replaceSubrange(52..<60, with: [0, 0, 0, 0, 0, 0, 0, 1])
    }
    let file = open(path, O_RDWR | O_CLOEXEC)
    guard file >= 0 else { return }
    defer { close(file) }
    let pageCount = UInt32(clamping: lseek(file, 0, SEEK_END) / off_t(pageByteCount))
    bytes.replaceSubrange(28..<32, with: (0..<4).map { UInt8(truncatingIfNeeded: pageCount >> (24 - 8 * $0)) })
    bytes.replaceSubrange(32..<40, with: repeatElement(0, count: 8))
    // The count of pages holds as long as these two are the same.
    bytes.replaceSubrange(92..<96, with: bytes[24..<28])
    // Where it cannot be written, the file is read as it is.
    _ = pwrite(file, bytes, bytes.count, 0)
  }

  // MARK: The copy of the first page

  /// What the copy is called beyond the database's name.
  static let copySuffix = ".first-page"
  private static let pageByteCount = 4_096

  /// The copy: the page, and a sum of it, since the copy may be what is damaged. Nil when there is none that is sound.
  private static func copy(at path: String) -> [UInt8]? {
    guard let bytes = read(path + copySuffix, pageByteCount + sumByteCount) else { return nil }
    let page = Array(bytes[..<pageByteCount])
    return sum(page).elementsEqual(bytes[pageByteCount...]) && isPlausible(page) ? page : nil
  }

  private static let sumByteCount = 8

  /// FNV-1a, 64 bits: against chance, not against an attacker.
  private static func sum(_ bytes: [UInt8]) -> [UInt8] {
    let sum = bytes.reduce(0xCBF2_9CE4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
    return (0..<8).map { UInt8(truncatingIfNeeded: sum >> (56 - 8 * $0)) }
  }

  /// How often the tables had been changed when the copy was made; nil when there is none.
  static func copiedChangeCount(at path: String) -> Int? {
    copy(at: path).map { copy in copy[40..<44].reduce(0) { $0 << 8 | Int($1) } }
  }

  /// Whether the first page says other things of the tables than its copy, although no table was changed: the numbers
  /// that count changes (at 40) and the version (at 60) are the same in both.
  static func hasChanged(_ database: Database, at path: String) -> Bool {
    guard let copy = copy(at: path), let page = firstPage(database) else { return false }
    return page[40..<44] == copy[40..<44] && page[60..<64] == copy[60..<64] && page[byteCount...] != copy[byteCount...]
  }

  /// Keeps a copy of the first page beside the file: without it nothing says where the tables are. It is written when
  /// the tables have changed, and where that fails the next start does it; a loss is no worse than without it.
  static func keepCopy(of database: Database, at path: String) {
    guard let page = firstPage(database), isPlausible(page),
      copy(at: path)?[byteCount...] != page[byteCount...]
    else { return }
    let new = path + copySuffix + ".new"
    let file = open(new, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
    guard file >= 0 else { return }
    defer { close(file) }
    let bytes = page + sum(page)
    guard pwrite(file, bytes, bytes.count, 0) == bytes.count, rename(new, path + copySuffix) == 0 else {
      unlink(new)
      return
    }
  }

  /// As it stands in the file. Read by SQLite's own descriptor: to close another would take its locks away.
  private static func firstPage(_ database: Database) -> [UInt8]? {
    var file: UnsafeMutablePointer<sqlite3_file>?
    let result = sqlite3_file_control(database.sqliteConnection, "main", SQLITE_FCNTL_FILE_POINTER, &file)
    var bytes = [UInt8](repeating: 0, count: pageByteCount)
    guard result == SQLITE_OK, let file, let read = file.pointee.pMethods?.pointee.xRead,
      read(file, &bytes, Int32(pageByteCount), 0) == SQLITE_OK
    else { return nil }
    return bytes
  }

  private static func read(_ path: String, _ count: Int = byteCount) -> [UInt8]? {
    let file = open(path, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { return nil }
    defer { close(file) }
    var bytes = [UInt8](repeating: 0, count: count)
    return pread(file, &bytes, count, 0) == count ? bytes : nil
  }
}
