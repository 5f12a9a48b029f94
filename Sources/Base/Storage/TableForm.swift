internal import GRDB

// A file describes its tables and indices as text in a table of its own (`sqlite_schema`), and SQLite obeys that text.
// So damage in the text is no damage to SQLite: it looks for a row in a column of another name. The correct text
// follows from the version: the same migrations are run on an empty database in memory.

/// A table or an index as a file describes it.
struct TableForm: Hashable {
  private let type: String
  private let name: String
  private let table: String
  private let sql: String?

  /// The tables and indices of a file, in the order in which they were made.
  static func all(_ database: Database) throws -> [TableForm] {
    try rows(database).map(\.form)
  }

  /// The first table or index that differs from what the migrations up to a version make; nil if none does. A file of
  /// an unknown version is not checked.
  static func firstDifference(_ database: Database, _ migrations: [StorageMigration], _ version: Int) throws -> String?
  {
    guard let known = migrations.last?.version, (1...known).contains(version) else { return nil }
    let (should, are) = (Set(try made(by: migrations, upTo: version)), Set(try all(database)))
    let differences = should.symmetricDifference(are).map(\.name).sorted()
    return differences.first.map { $0.isEmpty ? "of no name" : String($0.prefix(64)) }
  }

  private static func made(by migrations: [StorageMigration], upTo version: Int) throws -> [TableForm] {
    let memory = try DatabaseQueue()
    return try memory.writeWithoutTransaction { database in
      for migration in migrations where migration.version <= version { try database.execute(sql: migration.sql) }
      return try all(database)
    }
  }

  /// Writes the forms into a damaged file, by their order; if the file has a different number of them, by their names.
  static func write(_ forms: [TableForm], to database: Database) throws {
    let found = try rows(database)
    guard found.map(\.form) != forms else { return }
    var pairs: [(row: Int64, form: TableForm)] = []
    if found.count == forms.count {
      pairs = zip(found, forms).map { ($0.row, $1) }
    } else {
      for form in forms {
        if let row = found.first(where: { $0.form.name == form.name })?.row { pairs.append((row, form)) }
      }
    }
    try database.inTransaction {
      for (row, form) in pairs {
        try database.execute(
          sql: "UPDATE sqlite_schema SET type = ?, name = ?, tbl_name = ?, sql = ? WHERE rowid = ?",
          arguments: [form.type, form.name, form.table, form.sql, row])
      }
      return .commit
    }
    // Makes other connections read the text again.
    let count = try Int.fetchOne(database, sql: "PRAGMA schema_version") ?? 0
    try database.execute(sql: "PRAGMA schema_version = \((count + 1) & 0x7FFF_FFFF)")
    database.clearSchemaCache()
  }

  /// Leaves out SQLite's own tables of statistics.
  private static func rows(_ database: Database) throws -> [(row: Int64, form: TableForm)] {
    let sql = """
      SELECT rowid, CAST(type AS TEXT), CAST(name AS TEXT), CAST(tbl_name AS TEXT), CAST(sql AS TEXT)
      FROM sqlite_schema WHERE name NOT LIKE 'sqlite_stat%' ORDER BY rowid
      """
    return try Row.fetchAll(database, sql: sql).map { row in
      let form = TableForm(type: row[1] ?? "", name: row[2] ?? "", table: row[3] ?? "", sql: row[4])
      return (row[0], form)
    }
  }
}
