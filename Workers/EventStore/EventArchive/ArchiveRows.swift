internal import EventIndex
internal import Nostr
internal import Storage

// Rows that more than one part of the archive reads or writes.

extension StorageSession {
  /// Reads the event in a column of the statement's current row.
  ///
  /// - Throws: `corrupt` when it cannot be read, because only readable events were ever written.
  func scanned<Value>(
    _ statement: StorageStatement, _ column: Int32, seq: Int64,
    _ body: (ScannedEvent, UnsafeRawBufferPointer) throws -> Value
  ) throws -> Value {
    try statement.withBytes(column) { bytes in
      let event: ScannedEvent
      do throws(EventFault) { event = try ScannedEvent(bytes) } catch {
        // A statement that is left within its rows would hold the transaction open.
        statement.reset()
        throw StorageFault(.corrupt, path: path, "event \(seq) cannot be read: \(error)")
      }
      return try body(event, bytes)
    }
  }

  /// The result of `body` for an event; nil when the event is gone.
  func event<Value>(
    _ seq: Int64, _ body: (ScannedEvent, UnsafeRawBufferPointer) throws -> Value
  ) throws -> Value? {
    let statement = try statement("SELECT json FROM event WHERE seq = ?")
    statement.bind(seq)
    guard try statement.step() else { return nil }
    defer { statement.reset() }
    return try scanned(statement, 0, seq: seq, body)
  }

  /// The seq of an id that is in a segment, by its term.
  func seq(ofStoredID term: UInt64) throws -> Int64? {
    // The table still has ids of events that were removed while their segment was being written.
    let statement = try statement(
      "SELECT seq FROM identity WHERE term = ? AND EXISTS (SELECT 1 FROM event WHERE event.seq = identity.seq)")
    statement.bind(term)
    guard try statement.step() else { return nil }
    defer { statement.reset() }
    return statement.number(0)
  }

  /// A property of the database that is a number.
  func property(_ name: String) throws -> Int64? {
    let statement = try statement("SELECT value FROM property WHERE name = ?")
    statement.bind(name)
    guard try statement.step() else { return nil }
    defer { statement.reset() }
    return statement.number(0)
  }

  /// Writes a property.
  func write(property name: String, _ value: Int64) throws {
    try run("INSERT OR REPLACE INTO property (name, value) VALUES (?, ?)", name, value)
  }
}
