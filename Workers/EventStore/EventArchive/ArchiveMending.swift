internal import Nostr
internal import Storage

// A stored event whose bytes are not what its author signed any more: a disk that errs changes bytes without a word,
// and SQLite keeps no checksums. When a good copy comes, from here or from a file, it takes the place of the damaged
// one. The seq, the place in every index and the words are those of the event as it was, so only the row itself is
// written.

extension ArchiveWriter {
  /// Puts a verified copy in the place of a stored event that is damaged. Returns whether it was.
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
    // Whoever has the damaged one in memory forgets it.
    change.gone.append(event.indexed.id)
    return true
  }

  /// The JSON of a seq, whatever became of it; nil when it is gone.
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
