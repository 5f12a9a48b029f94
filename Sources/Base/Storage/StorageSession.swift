internal import GRDB
internal import GRDBSQLite

/// A connection for the duration of one transaction. It must not be kept longer.
public struct StorageSession {
  private let database: Database
  /// The database file, for faults.
  public let path: String

  init(_ database: Database, _ path: String) {
    self.database = database
    self.path = path
  }

  /// Runs statements that return no rows.
  public func execute(_ sql: String) throws { try database.execute(sql: sql) }

  /// A statement, compiled once for each connection and text.
  public func statement(_ sql: String) throws -> StorageStatement {
    StorageStatement(try database.cachedStatement(sql: sql), path)
  }

  /// Whether the file was removed, moved or replaced while it was open. SQLite continues without an error, and
  /// everything committed is gone when the file is closed.
  public var isFileGone: Bool {
    var isMoved: Int32 = 0
    let result = sqlite3_file_control(database.sqliteConnection, "main", SQLITE_FCNTL_HAS_MOVED, &isMoved)
    return result == SQLITE_OK && isMoved != 0
  }

  /// Rows that the last statement changed.
  public var changedRowCount: Int { database.changesCount }

  /// Rows that all statements of this connection have changed.
  public var totalChangeCount: Int { database.totalChangesCount }
}

/// A compiled statement. Parameters and columns are numbers, bytes or text; the bytes of a column are borrowed, not
/// copied.
public struct StorageStatement {
  private let statement: Statement
  private let handle: OpaquePointer
  private let path: String

  init(_ statement: Statement, _ path: String) {
    self.statement = statement
    handle = statement.sqliteStatement
    self.path = path
  }

  // MARK: Parameters, from 1

  /// Sets a parameter.
  @inline(__always)
  public func bind(_ number: Int64, at index: Int32) { sqlite3_bind_int64(handle, index, number) }

  /// Sets a parameter; nil is NULL.
  public func bind(_ number: Int64?, at index: Int32) {
    if let number { sqlite3_bind_int64(handle, index, number) } else { sqlite3_bind_null(handle, index) }
  }

  /// Sets a parameter to bytes, which SQLite copies.
  public func bind(_ bytes: [UInt8], at index: Int32) { bytes.withUnsafeBytes { bind($0, at: index) } }

  /// Sets a parameter to bytes, which SQLite copies.
  public func bind(_ bytes: UnsafeRawBufferPointer, at index: Int32) {
    guard let base = bytes.baseAddress, bytes.count > 0 else {
      sqlite3_bind_zeroblob(handle, index, 0)
      return
    }
    sqlite3_bind_blob64(handle, index, base, UInt64(bytes.count), Self.transient)
  }

  /// Sets a parameter to text.
  public func bind(_ text: String, at index: Int32) {
    bind(utf8: Array(text.utf8), at: index)
  }

  /// Sets a parameter to text, given as UTF-8 bytes.
  public func bind(utf8 text: [UInt8], at index: Int32) {
    text.withUnsafeBufferPointer { bytes in
      let base = UnsafeRawPointer(bytes.baseAddress)?.assumingMemoryBound(to: CChar.self)
      _ = sqlite3_bind_text(handle, index, base, Int32(bytes.count), Self.transient)
    }
  }

  /// "Make a copy": a cast of -1, which Swift does not import.
  private static var transient: sqlite3_destructor_type { unsafeBitCast(-1, to: sqlite3_destructor_type.self) }

  // MARK: Running

  /// Goes to the next row; false if there is no further row, and then the statement can be used again.
  @inline(__always)
  public func step() throws -> Bool {
    let code = sqlite3_step(handle)
    if code == SQLITE_ROW { return true }
    sqlite3_reset(handle)
    guard code == SQLITE_DONE else { throw fault(code) }
    return false
  }

  /// Runs a statement that returns no rows.
  @inline(__always)
  public func run() throws {
    while try step() {}
  }

  /// Makes the statement usable again before its last row was read.
  public func reset() { sqlite3_reset(handle) }

  private func fault(_ code: Int32) -> StorageFault {
    let message = sqlite3_db_handle(handle).flatMap { sqlite3_errmsg($0) }.map { String(cString: $0) }
    return StorageFault(DatabaseError(resultCode: ResultCode(rawValue: code), message: message), path: path)
  }

  // MARK: Columns, from 0

  /// A number of the row; 0 for NULL.
  @inline(__always)
  public func number(_ column: Int32) -> Int64 { sqlite3_column_int64(handle, column) }

  /// A floating-point number of the row.
  public func double(_ column: Int32) -> Double { sqlite3_column_double(handle, column) }

  enum Kind {
    case null, number, double, text, bytes
  }

  func kind(_ column: Int32) -> Kind {
    switch sqlite3_column_type(handle, column) {
    case SQLITE_INTEGER: .number
    case SQLITE_FLOAT: .double
    case SQLITE_TEXT: .text
    case SQLITE_BLOB: .bytes
    default: .null
    }
  }

  func bind(_ number: Double, at index: Int32) { sqlite3_bind_double(handle, index, number) }

  /// Whether the column is NULL in this row.
  public func isNull(_ column: Int32) -> Bool { sqlite3_column_type(handle, column) == SQLITE_NULL }

  /// Bytes of the row, borrowed until the next step.
  @inline(__always)
  public func withBytes<Value>(_ column: Int32, _ body: (UnsafeRawBufferPointer) throws -> Value) rethrows -> Value {
    let base = sqlite3_column_blob(handle, column)
    return try body(UnsafeRawBufferPointer(start: base, count: Int(sqlite3_column_bytes(handle, column))))
  }

  /// Bytes of the row, copied.
  public func bytes(_ column: Int32) -> [UInt8] { withBytes(column) { Array($0) } }

  /// Text of the row.
  public func text(_ column: Int32) -> String { withBytes(column) { String(decoding: $0, as: UTF8.self) } }
}
