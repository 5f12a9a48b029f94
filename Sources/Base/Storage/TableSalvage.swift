// How a table of a damaged file is read. SQLite ends a walk at the first damaged page. So a table is walked from both
// ends, and the gap between the two places is halved again and again: from each middle, a walk continues for as long as
// pages are sound. That finds every row that is reachable through sound pages, whatever happened to its neighbours, if
// the keys can be halved: numbers, and keys of bytes by their first bytes, such as hashes. Rows with text as key are
// read from both ends only.
//
// Rejected: to read the pages without the tree. That would also find rows behind damaged inner pages, but also rows
// that were deleted and must not come back.

/// A value as it is in a row.
enum StoredValue: Sendable {
  case null
  case number(Int64)
  case double(Double)
  case text([UInt8])
  case bytes([UInt8])

  var byteCount: Int {
    switch self {
    case .null, .number, .double: 8
    case .text(let bytes), .bytes(let bytes): bytes.count
    }
  }
}

/// Copies the rows of one table unchanged.
struct TableSalvage {
  private let name: String
  private let columns: [String]
  /// The columns that order the table; `rowid` if SQLite numbers its rows.
  private let key: [String]

  /// The largest numbers of rows and bytes in one transaction.
  private static let batchRowCount = 500
  private static let batchByteCount = 4 << 20
  /// The largest number of gaps searched in one table. Rows in the remaining gaps are lost.
  private static let gapMaximum = 8_192
  /// After so many gaps in a row without a row, the rest of the table is taken for lost: if its inner pages are
  /// damaged, nothing is reachable.
  private static let emptyGapMaximum = 1_024
  /// How long the gaps of all tables of a file are searched: a worker must be ready soon.
  static let searchSeconds = 5

  /// The tables of a sound file.
  static func tables(of file: StorageFile) throws(StorageFault) -> [TableSalvage] {
    try file.readNow { session in
      var tables: [TableSalvage] = []
      let list = try session.statement(
        "SELECT name, wr FROM pragma_table_list WHERE schema = 'main' AND type = 'table' AND name NOT LIKE 'sqlite_%'")
      var names: [(String, Bool)] = []
      while try list.step() { names.append((list.text(0), list.number(1) != 0)) }
      for (name, hasOwnKey) in names.sorted(by: { $0.0 < $1.0 }) {
        let info = try session.statement("SELECT name, pk FROM pragma_table_info('\(name)')")
        var columns: [(name: String, place: Int64)] = []
        while try info.step() { columns.append((info.text(0), info.number(1))) }
        let key = columns.filter { $0.place > 0 }.sorted { $0.place < $1.place }.map(\.name)
        tables.append(TableSalvage(name: name, columns: columns.map(\.name), key: hasOwnKey ? key : ["rowid"]))
      }
      return tables
    }
  }

  /// Copies what can be read.
  ///
  /// - Parameters:
  ///   - old: the damaged file.
  ///   - new: the file that is being filled.
  ///   - deadline: when gaps are no longer searched. The walks from both ends take as long as they take.
  /// - Returns: why some rows are missing; nil if all were copied.
  /// - Throws: a fault of writing the new file.
  func copy(
    from old: StorageFile, to new: StorageFile, searchingUntil deadline: ContinuousClock.Instant
  ) throws(StorageFault) -> String? {
    var walk = Walk(table: self, old: old, new: new)
    guard let fault = try walk.go(.up, from: nil, to: nil) else { return nil }
    let lower = walk.last
    guard try walk.go(.down, from: nil, to: nil) != nil else { return fault }
    var gaps = Gap.between(lower, walk.last)
    var (count, found) = (0, 0)
    while count < gaps.count, count < Self.gapMaximum, count - found < Self.emptyGapMaximum,
      ContinuousClock.now < deadline
    {
      let gap = gaps[count]
      count += 1
      let rowsBefore = walk.rowCount
      defer { if walk.rowCount > rowsBefore { found = count } }
      let middle = gap.middle
      if let reached = try walk.search(.up, from: middle, in: gap), reached < gap.last {
        gaps += Gap.of(reached + 1, gap.last, gap)
      }
      if middle > gap.first, let reached = try walk.search(.down, from: middle - 1, in: gap), reached > gap.first {
        gaps += Gap.of(gap.first, reached - 1, gap)
      }
    }
    return fault
  }

  // MARK: Gaps

  /// A range of keys that no walk has reached, as numbers in key order.
  private struct Gap {
    var first: Int64
    var last: Int64
    var isBytes: Bool

    var middle: Int64 { first + Int64((UInt64(bitPattern: last) &- UInt64(bitPattern: first)) / 2) }

    static func of(_ first: Int64, _ last: Int64, _ gap: Gap) -> [Gap] {
      first <= last ? [Gap(first: first, last: last, isBytes: gap.isBytes)] : []
    }

    /// The gaps between two walks. If a walk has found no row, the key may be anything: small numbers are tried first,
    /// then all.
    static func between(_ lower: Position?, _ upper: Position?) -> [Gap] {
      switch lower ?? upper {
      case .text?: return []
      case .number?, .bytes?:
        let isBytes = if case .bytes? = lower ?? upper { true } else { false }
        let first = lower?.number ?? .min
        let last = upper?.number ?? .max
        guard first < last else { return [] }
        let any = [Gap(first: first, last: last, isBytes: isBytes)]
        guard !isBytes, lower == nil || upper == nil else { return any }
        return small.compactMap { $0.clipped(to: first...last) } + any
      case nil:
        return small + [Gap(first: .min, last: .max, isBytes: false), Gap(first: .min, last: .max, isBytes: true)]
      }
    }

    /// Numbers that were assigned in sequence are small: halving the range of all numbers would never reach them.
    private static let small = (0..<40).map {
      Gap(first: 1 << Int64($0), last: (2 << Int64($0)) - 1, isBytes: false)
    }

    private func clipped(to range: ClosedRange<Int64>) -> Gap? {
      guard first <= range.upperBound, last >= range.lowerBound else { return nil }
      return Gap(first: max(first, range.lowerBound), last: min(last, range.upperBound), isBytes: isBytes)
    }
  }

  /// A key's place in key order.
  private enum Position {
    case number(Int64)
    case bytes(Int64)
    case text

    var number: Int64 {
      switch self {
      case .number(let number), .bytes(let number): number
      case .text: 0
      }
    }

    init(_ value: StoredValue) {
      switch value {
      case .number(let number): self = .number(number)
      case .bytes(let bytes): self = .bytes(Self.number(bytes))
      case .null, .double, .text: self = .text
      }
    }

    private static func number(_ bytes: [UInt8]) -> Int64 {
      let prefix = (0..<8).reduce(UInt64(0)) { $0 << 8 | UInt64($1 < bytes.count ? bytes[$1] : 0) }
      return Int64(bitPattern: prefix ^ (1 << 63))
    }

    /// The least key at a place.
    static func value(_ number: Int64, isBytes: Bool) -> StoredValue {
      guard isBytes else { return .number(number) }
      let prefix = UInt64(bitPattern: number) ^ (1 << 63)
      return .bytes((0..<8).map { UInt8(truncatingIfNeeded: prefix >> (56 - 8 * UInt64($0))) })
    }
  }

  // MARK: Walks

  private enum Direction: String {
    case up = "ASC"
    case down = "DESC"
  }

  private struct Walk {
    let table: TableSalvage
    let old: StorageFile
    let new: StorageFile
    /// The place of the last row of the last walk; nil if the walk found none.
    private(set) var last: Position?
    /// Rows that all walks have found.
    private(set) var rowCount = 0

    init(table: TableSalvage, old: StorageFile, new: StorageFile) {
      (self.table, self.old, self.new) = (table, old, new)
    }

    /// Searches a gap for rows, starting at a place.
    ///
    /// - Returns: the last place before a damaged page; nil if the walk reached the end of the gap.
    mutating func search(_ direction: Direction, from place: Int64, in gap: Gap) throws(StorageFault) -> Int64? {
      let end = direction == .up ? gap.last : gap.first
      // Keys longer than a place (8 bytes) may share one: downwards, the walk starts below the next place.
      let start = gap.isBytes && direction == .down ? place + 1 : place
      guard try go(direction, from: Position.value(start, isBytes: gap.isBytes), to: end) != nil else { return nil }
      return last.map(\.number) ?? place
    }

    /// Copies rows up to a damaged page.
    ///
    /// - Returns: why the walk ended early; nil if it reached the end.
    mutating func go(
      _ direction: Direction, from start: StoredValue?, to end: Int64?
    ) throws(StorageFault) -> String? {
      last = nil
      var (rows, byteCount) = ([[StoredValue]](), 0)
      var position: Position?
      var writing: StorageFault?
      do throws(StorageFault) {
        try old.readNow { session in
          let statement = try session.statement(table.selection(direction, isFrom: start != nil))
          if let start { statement.bind(start, at: 1) }
          defer { statement.reset() }
          while try statement.step() {
            let place = Position(statement.value(0))
            if let end, direction == .up ? place.number > end : place.number < end { return }
            position = place
            rowCount += 1
            let row = table.columns.indices.map { statement.value(Int32($0 + 1)) }
            rows.append(row)
            byteCount += row.reduce(0) { $0 + $1.byteCount }
            guard rows.count == batchRowCount || byteCount >= batchByteCount else { continue }
            do throws(StorageFault) { try table.insert(rows, into: new) } catch {
              writing = error
              throw error
            }
            (rows, byteCount) = ([], 0)
          }
        }
        last = position
        try table.insert(rows, into: new)
        return nil
      } catch {
        if let writing { throw writing }
        guard error.path != new.path else { throw error }
        last = position
        try table.insert(rows, into: new)
        return error.reason
      }
    }
  }

  private func selection(_ direction: Direction, isFrom: Bool) -> String {
    let order = key.map { "\($0) \(direction.rawValue)" }.joined(separator: ", ")
    let bound = isFrom ? "WHERE \(key[0]) \(direction == .up ? ">=" : "<=") ?" : ""
    let names = ([key[0]] + columns).joined(separator: ", ")
    return "SELECT \(names) FROM \(name) NOT INDEXED \(bound) ORDER BY \(order)"
  }

  /// A row that does not fit the form is damage as well, and is left out.
  private func insert(_ rows: [[StoredValue]], into new: StorageFile) throws(StorageFault) {
    guard !rows.isEmpty else { return }
    let places = columns.map { _ in "?" }.joined(separator: ", ")
    try new.writeNow { session in
      let statement = try session.statement(
        "INSERT OR IGNORE INTO \(name) (\(columns.joined(separator: ", "))) VALUES (\(places))")
      for row in rows {
        for (index, value) in row.enumerated() { statement.bind(value, at: Int32(index + 1)) }
        try statement.run()
      }
    }
  }
}

extension StorageStatement {
  /// A value of the row, unchanged.
  func value(_ column: Int32) -> StoredValue {
    switch kind(column) {
    case .null: .null
    case .number: .number(number(column))
    case .double: .double(double(column))
    case .text: .text(bytes(column))
    case .bytes: .bytes(bytes(column))
    }
  }

  func bind(_ value: StoredValue, at index: Int32) {
    switch value {
    case .null: bind(Int64?.none, at: index)
    case .number(let number): bind(number, at: index)
    case .double(let number): bind(number, at: index)
    case .text(let bytes): bind(utf8: bytes, at: index)
    case .bytes(let bytes): bind(bytes, at: index)
    }
  }
}
