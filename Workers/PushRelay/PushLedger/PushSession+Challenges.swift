internal import Cryptography
internal import PushDelivery
internal import Storage

// A claim to a token that another owner has registered has little effect until the new owner proves that pushes to the
// token arrive at its own device. The challenge is itself a push, to a device whose owner may not have requested it. So
// there is one a minute for each token, whatever the number of keys that claim it. A claim during another's minute gets
// the next free minute, and each device has at most one challenge to come: so repeated claims do not keep a token's
// owner waiting.

extension PushSession {
  /// The challenge by which a device's owner can prove the token; nil if one was just sent to this device, or will be.
  func challenge(_ row: DeviceRow, _ token: PushToken, now: Int64) throws -> PushChallenge? {
    let pause = PushLedger.challengePauseSeconds
    let others = try minutes(of: row.tokenIndex, now: now)
    guard !others.contains(where: { $0.device == row.number }) else { return nil }
    var sendAt = now
    for other in others where abs(other.issuedAt - sendAt) < pause { sendAt = other.issuedAt + pause }
    let code = Hexadecimal.text(of: RandomBytes.make(PushLedger.challengeByteCount))
    let expiresAt = sendAt + PushLedger.challengeSeconds
    try session.run(
      """
      INSERT INTO challenge (device, tokenIndex, codeHash, issuedAt, expiresAt, attempts) VALUES (?, ?, ?, ?, ?, 0)
      """,
      row.number, row.tokenIndex, Self.hash(code), sendAt, expiresAt)
    return PushChallenge(device: row.number, token: token, code: code, sendAt: sendAt, expiresAt: expiresAt)
  }

  /// For which devices the token has challenges, and when, in order: in the last minute, and those to come for devices
  /// that still exist. Those further ahead come from a clock that was set back, and are ignored.
  private func minutes(of tokenIndex: [UInt8], now: Int64) throws -> [(device: Int64, issuedAt: Int64)] {
    try session.rows(
      """
      SELECT device, issuedAt FROM challenge WHERE tokenIndex = ?1 AND issuedAt > ?2 AND issuedAt <= ?3
      AND (issuedAt <= ?4 OR EXISTS (SELECT 1 FROM device WHERE number = challenge.device AND tokenIndex = ?1))
      ORDER BY issuedAt
      """,
      tokenIndex, now - PushLedger.challengePauseSeconds, now + PushLedger.challengeWaitMaximum, now
    ) { ($0.number(0), $0.number(1)) }
  }

  /// Whether the code is the one sent to the device. A wrong one counts as an attempt, and changes nothing else.
  func isProved(_ row: DeviceRow, _ code: String, now: Int64) throws -> Bool {
    let hash = Self.hash(code)
    // A device that has another token now proves nothing by what was sent to the old one.
    let known = try session.rows(
      "SELECT codeHash FROM challenge WHERE device = ? AND tokenIndex = ? AND expiresAt > ? AND attempts < ?",
      row.number, row.tokenIndex, now, PushLedger.challengeAttemptMaximum
    ) { $0.bytes(0) }
    let isRight = known.contains { known in
      known.withUnsafeBytes { known in hash.withUnsafeBytes { ConstantTime.areEqual(known, $0) } }
    }
    guard isRight else {
      try session.run(
        "UPDATE challenge SET attempts = attempts + 1 WHERE device = ? AND tokenIndex = ?", row.number, row.tokenIndex)
      return false
    }
    return true
  }

  /// A device's owner has proved its token: the other owners lose it, and the challenges of the device cannot be used
  /// again.
  func takeOver(_ row: DeviceRow) throws {
    for other in try devices(token: row.tokenIndex) where other.owner != row.owner { try remove(other) }
    try session.run(
      "UPDATE challenge SET attempts = ?3 WHERE device = ?1 AND tokenIndex = ?2",
      row.number, row.tokenIndex, PushLedger.challengeAttemptMaximum)
    add(to: .movedTokens)
  }

  private static func hash(_ code: String) -> [UInt8] { SHA256.hash(Array(code.utf8)).bytes }
}
