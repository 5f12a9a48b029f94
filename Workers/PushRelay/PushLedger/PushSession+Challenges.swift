internal import Cryptography
internal import PushDelivery
internal import Storage

// A token that another owner has registered counts for little until its new owner has shown that what is pushed to it
// comes to him. What is sent for that is itself a push to somebody who may not have asked for it, so there is one a
// minute for each token, whoever asks under however many keys. Who asks while another's minute runs has the next minute
// that is free, and not more than one to come: so nobody who asks again and again keeps a token's owner waiting.

extension PushSession {
  /// What to send so that a device's owner can prove that its token is his; nil when that was sent to this device just
  /// now, or is to be.
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

  /// For which devices a token is asked, and when, in order: in the last minute, and in those to come as far as the
  /// devices are still there. What lies beyond is of a clock that was set back, and keeps nobody waiting.
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

  /// Whether the code is what was sent to the device. A wrong one counts as an attempt, and nothing else is changed.
  func isProved(_ row: DeviceRow, _ code: String, now: Int64) throws -> Bool {
    let hash = Self.hash(code)
    // A device that has another token by now proves nothing by what was sent to the old one.
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

  /// A device's owner has shown that its token is his: those who had it before have it no more, and what was sent to
  /// the device proves nothing again.
  func takeOver(_ row: DeviceRow) throws {
    for other in try devices(token: row.tokenIndex) where other.owner != row.owner { try remove(other) }
    try session.run(
      "UPDATE challenge SET attempts = ?3 WHERE device = ?1 AND tokenIndex = ?2",
      row.number, row.tokenIndex, PushLedger.challengeAttemptMaximum)
    add(to: .movedTokens)
  }

  private static func hash(_ code: String) -> [UInt8] { SHA256.hash(Array(code.utf8)).bytes }
}
