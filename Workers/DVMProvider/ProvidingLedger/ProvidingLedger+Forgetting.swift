internal import Cryptography
public import Storage

// Removes the requests of an account that is forgotten, which was a customer of this machine.

extension ProvidingLedger {
  /// How many requests of an account there are.
  ///
  /// - Parameter account: 64 hexadecimal digits.
  public func count(of account: String) async throws(StorageFault) -> Int {
    guard let key = Octets32(account) else { return 0 }
    return try await file.read { session in
      Int(try session.first("SELECT count(*) FROM request WHERE customer = ?", key) { $0.number(0) } ?? 0)
    }
  }

  /// Removes an account's requests, and their traces in the file. Blocks this thread.
  ///
  /// - Returns: how many.
  public func forgetNow(_ account: String) throws(StorageFault) -> Int {
    guard let key = Octets32(account) else { return 0 }
    let count = try file.writeNow { session in
      let numbers = try session.rows("SELECT number FROM request WHERE customer = ?", key) { $0.number(0) }
      for number in numbers { try ServingSession(session).remove(number) }
      return numbers.count
    }
    _ = try file.scrubNow()
    return count
  }
}
