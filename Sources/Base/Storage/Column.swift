public import Cryptography

/// A value for a parameter of a statement: a number, bytes, text, or nil for NULL.
public protocol Column {
  /// Sets the parameter at `index`, from 1.
  func bind(to statement: StorageStatement, at index: Int32)
}

extension Int64: Column {
  /// Sets the parameter at `index`, from 1.
  @inlinable
  public func bind(to statement: StorageStatement, at index: Int32) { statement.bind(self, at: index) }
}

extension Int: Column {
  /// Sets the parameter at `index`, from 1.
  @inlinable
  public func bind(to statement: StorageStatement, at index: Int32) { statement.bind(Int64(self), at: index) }
}

extension UInt16: Column {
  /// Sets the parameter at `index`, from 1.
  @inlinable
  public func bind(to statement: StorageStatement, at index: Int32) { statement.bind(Int64(self), at: index) }
}

/// Terms and numbers that count from 0; values above `Int64.max` are negative in the file.
extension UInt64: Column {
  /// Sets the parameter at `index`, from 1.
  @inlinable
  public func bind(to statement: StorageStatement, at index: Int32) {
    statement.bind(Int64(bitPattern: self), at: index)
  }
}

/// 1 or 0.
extension Bool: Column {
  /// Sets the parameter at `index`, from 1.
  @inlinable
  public func bind(to statement: StorageStatement, at index: Int32) { statement.bind(self ? Int64(1) : 0, at: index) }
}

extension Double: Column {
  /// Sets the parameter at `index`, from 1.
  public func bind(to statement: StorageStatement, at index: Int32) { statement.bind(self, at: index) }
}

extension String: Column {
  /// Sets the parameter at `index`, from 1.
  @inlinable
  public func bind(to statement: StorageStatement, at index: Int32) { statement.bind(self, at: index) }
}

extension [UInt8]: Column {
  /// Sets the parameter at `index`, from 1.
  @inlinable
  public func bind(to statement: StorageStatement, at index: Int32) { statement.bind(self, at: index) }
}

/// Text as UTF-8 bytes.
public struct UTF8Column: Column {
  private let bytes: [UInt8]

  /// The text in these bytes.
  public init(_ bytes: [UInt8]) { self.bytes = bytes }

  /// Sets the parameter at `index`, from 1.
  public func bind(to statement: StorageStatement, at index: Int32) { statement.bind(utf8: bytes, at: index) }
}

extension UnsafeRawBufferPointer: Column {
  /// Sets the parameter at `index`, from 1.
  @inlinable
  public func bind(to statement: StorageStatement, at index: Int32) { statement.bind(self, at: index) }
}

extension Octets32: Column {
  /// 32 bytes.
  public func bind(to statement: StorageStatement, at index: Int32) {
    withUnsafeBytes { statement.bind($0, at: index) }
  }
}

extension Optional: Column where Wrapped: Column {
  /// Sets the parameter at `index`, from 1.
  @inlinable
  public func bind(to statement: StorageStatement, at index: Int32) {
    switch self {
    case .none: statement.bind(Int64?.none, at: index)
    case .some(let value): value.bind(to: statement, at: index)
    }
  }
}

extension StorageStatement {
  /// Sets all parameters, in order.
  @inlinable
  public func bind<each Value: Column>(_ values: repeat each Value) {
    var index: Int32 = 1
    for value in repeat each values {
      value.bind(to: self, at: index)
      index += 1
    }
  }

  /// Sets all parameters, and runs a statement that returns no rows.
  @inlinable
  public func run<each Value: Column>(_ values: repeat each Value) throws {
    bind(repeat each values)
    while try step() {}
  }
}

extension StorageSession {
  /// A statement with its parameters set, compiled once for each connection and text.
  @inlinable
  public func statement<First: Column, each Value: Column>(
    _ sql: String, _ first: First, _ values: repeat each Value
  ) throws -> StorageStatement {
    let statement = try statement(sql)
    statement.bind(first, repeat each values)
    return statement
  }

  /// Runs a statement that returns no rows.
  @inlinable
  public func run<each Value: Column>(_ sql: String, _ values: repeat each Value) throws {
    try statement(sql).run(repeat each values)
  }

  /// Runs a statement that returns no rows, with any number of parameters.
  public func run(_ sql: String, list: [any Column]) throws {
    let statement = try statement(sql)
    for (index, value) in list.enumerated() { value.bind(to: statement, at: Int32(index + 1)) }
    try statement.run()
  }

  /// The rows of a statement, each read by `row`; a row for which `row` returns nil is left out.
  @inlinable
  public func rows<each Value: Column, Row>(
    _ sql: String, _ values: repeat each Value, row: (StorageStatement) throws -> Row?
  ) throws -> [Row] {
    let statement = try statement(sql)
    statement.bind(repeat each values)
    return try statement.rows(row)
  }

  /// The first row of a statement; nil if there is no row, or `row` returns nil.
  @inlinable
  public func first<each Value: Column, Row>(
    _ sql: String, _ values: repeat each Value, row: (StorageStatement) throws -> Row?
  ) throws -> Row? {
    let statement = try statement(sql)
    statement.bind(repeat each values)
    guard try statement.step() else { return nil }
    defer { statement.reset() }
    return try row(statement)
  }

  /// The number that a statement returns; 0 if it returns no row.
  @inlinable
  public func count<each Value: Column>(_ sql: String, _ values: repeat each Value) throws -> Int64 {
    try first(sql, repeat each values) { $0.number(0) } ?? 0
  }
}

extension StorageStatement {
  /// All rows, each read by `row`; a row for which `row` returns nil is left out.
  @inlinable
  public func rows<Row>(_ row: (StorageStatement) throws -> Row?) throws -> [Row] {
    var found: [Row] = []
    do {
      while try step() {
        if let value = try row(self) { found.append(value) }
      }
    } catch {
      reset()
      throw error
    }
    return found
  }
}
