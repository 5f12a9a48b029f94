internal import Nostr
internal import Storage

// A stored event whose bytes are no longer what its author signed: a faulty disk changes bytes without an error, and
// SQLite keeps no checksums. When a good copy comes, it replaces the damaged one. The seq, the index entries and the
// words are still those of the original event, so only the row itself is written.

extension ArchiveWriter {
  /// Replaces a stored event by a verified copy, if the stored one is damaged. Returns whether it was.
  mutating func mend(_ seq: Int64, by event: VerifiedEvent) throws -> Bool {
    guard event.isSignatureChecked, let json = try json(seq), json != event.json,
      !Self.isSound(json, as: event.indexed.id)
    else { return false }
    let statement = try session.statement(
      "UPDATE event SET time = ?, kind = ?, json = ? WHERE seq = ? RETURNING flags = 4", event.indexed.createdAt,
      event.indexed.kind, event.json, seq)
    if try statement.step() {
      if statement.number(0) != 0 { change.foreignByteCount += Int64(event.json.count - json.count) }
      statement.reset()
    }
    try run("DELETE FROM unchecked WHERE seq = ?", seq)
    // Caches drop the damaged copy.
    change.gone.append(event.indexed.id)
    return true
  }

  /// The JSON of a seq as stored, damaged or not; nil when the event is gone.
  func json(_ seq: Int64) throws -> [UInt8]? {
    return try session.first("SELECT json FROM event WHERE seq = ?", seq) { $0.bytes(0) }
  }

  private static func isSound(_ json: [UInt8], as id: EventID) -> Bool {
    json.withUnsafeBytes { bytes in
      do throws(EventFault) {
        let event = try ScannedEvent(bytes)
        return event.id == id && EventVerifier().fault(of: event, in: bytes) == nil
      } catch { return false }
    }
  }
}
