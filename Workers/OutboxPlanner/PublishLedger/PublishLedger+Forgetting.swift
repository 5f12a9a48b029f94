public import Contracts
public import Cryptography
public import Nostr
internal import PublishQueue
public import Storage

// Removes the publications of an account that is forgotten: those of its events, and those that it published for
// another key, such as its gift wraps, whose keys are used once.

extension PublishLedger {
  /// The publications that belong to an account: their numbers, ids and states.
  ///
  /// - Parameters:
  ///   - account: the account.
  ///   - others: the other accounts; what they wrote is theirs.
  public func publications(
    of account: PublicKey, butOf others: Set<PublicKey>
  ) async throws(StorageFault) -> [(number: Int64, id: EventID, state: Publication.State)] {
    try await file.read { session in
      let statement = try session.statement(
        """
        SELECT number, id, author, state FROM publication
        WHERE author = ?1 OR number IN (SELECT publication FROM target WHERE account = ?1)
        """, account.octets)
      var found: [(number: Int64, id: EventID, state: Publication.State)] = []
      while try statement.step() {
        guard let id = Octets32(statement.bytes(1)), let author = Octets32(statement.bytes(2)),
          let state = Publication.State(code: statement.number(3)), !others.contains(PublicKey(author))
        else { continue }
        found.append((statement.number(0), EventID(id), state))
      }
      return found
    }
  }

  /// Removes publications and every mention of an account. Their traces in the file go with `StorageFile.scrub()`.
  public func forget(_ numbers: [Int64], of account: PublicKey) async throws(StorageFault) {
    try await file.write { session in
      let rows = PublicationRows(session)
      for number in numbers { try rows.remove(number) }
      // Other accounts' publications, for which it has authenticated.
      try session.run("UPDATE target SET account = NULL WHERE account = ?", account.octets)
      try session.run(
        "UPDATE publication SET relays = replace(relays, ?1, '-') WHERE instr(relays, ?1) > 0", account.description)
    }
  }
}
