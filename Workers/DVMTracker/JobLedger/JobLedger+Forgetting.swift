internal import Contracts
internal import Cryptography
internal import JobTracking
public import Storage

// Removes the jobs of an account that is forgotten.

extension JobLedger {
  /// How many jobs an account has.
  ///
  /// - Parameter account: 64 hexadecimal digits.
  public func count(of account: String) async throws(StorageFault) -> Int {
    guard let key = Octets32(account) else { return 0 }
    return try await file.read { session in
      Int(try session.first("SELECT count(*) FROM job WHERE account = ?", key) { $0.number(0) } ?? 0)
    }
  }

  /// Removes an account's jobs with everything that is known of them, and their traces in the file. Blocks this thread.
  ///
  /// - Returns: how many jobs.
  public func forgetNow(_ account: String) throws(StorageFault) -> Int {
    guard let key = Octets32(account) else { return 0 }
    let count = try file.writeNow { session in
      let rows = JobRows(session)
      let jobs = try session.rows("SELECT id FROM job WHERE account = ?", key) { JobID(column: $0.number(0)) }
      for job in jobs {
        // Also its approvals and proofs: the account has no further day of spending.
        try session.run("DELETE FROM payment WHERE job = ?", job.column)
        try session.run("DELETE FROM proof WHERE job = ?", job.column)
        try rows.remove(job)
      }
      return jobs.count
    }
    _ = try file.scrubNow()
    return count
  }
}
