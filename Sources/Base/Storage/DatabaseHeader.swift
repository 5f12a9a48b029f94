internal import GRDB
internal import GRDBSQLite
internal import Glibc

// The first 100 bytes of a database. SQLite believes them: a single changed bit can make SQLite treat the file as
// read-only, or as no database. Most of these bytes are the same in all our files, so damage there is found and mended.
//
//     0  "SQLite format 3\0"         20  bytes left free in each page, 0     44  form of the schema, 4 (0: not yet)
//    16  page size, 4096             21  shares of a page, 64, 32, 32        56  encoding, UTF-8: 1 (0: not yet)
//    18  form for writing, 19 for reading: 1, or 2 with a log of writes     52  pages move by themselves, 0
//
// https://www.sqlite.org/fileformat.html

/// The header of our database files.
enum DatabaseHeader {
  private static let byteCount = 100
  private static let magic = Array("SQLite format 3".utf8) + [0]

  /// Whether the first bytes of a file can be a header. The answer is true for a file that is too short for a header,
  /// and for one whose first transaction must still be rolled back.
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

  /// Mends the first page of a damaged file, so that SQLite reads the pages after it: with the copy of the page if
  /// there is one, else with the bytes that all headers share. The number of pages is computed from the file's size.
  /// The list of free pages is emptied: if SQLite needs a page while the file is read, it appends a new one. As always,
  /// pages in the write-ahead log take precedence over these.
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
    // SQLite uses the page count only while these two fields are equal.
    bytes.replaceSubrange(92..<96, with: bytes[24..<28])
    // If the page cannot be written, the file is read as it is.
    _ = pwrite(file, bytes, bytes.count, 0)
  }

  // MARK: The copy of the first page

  /// The copy's name is the database's name and this suffix.
  static let copySuffix = ".first-page"
  private static let pageByteCount = 4_096

  /// The copy: the page and its checksum, since the copy itself may be damaged. Nil if there is no sound copy.
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

  /// The change counter of the tables at the time of the copy; nil if there is no copy.
  static func copiedChangeCount(at path: String) -> Int? {
    copy(at: path).map { copy in copy[40..<44].reduce(0) { $0 << 8 | Int($1) } }
  }

  /// Whether the first page describes the tables differently from its copy although no table was changed: the counter
  /// of table changes (at 40) and the version (at 60) are the same in both.
  static func hasChanged(_ database: Database, at path: String) -> Bool {
    guard let copy = copy(at: path), let page = firstPage(database) else { return false }
    return page[40..<44] == copy[40..<44] && page[60..<64] == copy[60..<64] && page[byteCount...] != copy[byteCount...]
  }

  /// Keeps a copy of the first page beside the file; without the page, nothing says where the tables are. The copy is
  /// written when the tables have changed. If that fails, the next start writes it; until then a loss is no worse than
  /// without a copy.
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

  /// The page as it is in the file. Read through SQLite's own descriptor, because closing another one would release
  /// SQLite's locks.
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
