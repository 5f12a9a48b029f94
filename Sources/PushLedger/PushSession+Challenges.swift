internal import Cryptography
internal import PushDelivery
internal import Storage

// A token that another owner has registered counts for little until its new owner has shown that what is pushed to it
// comes to him. What is sent for that is itself a push to somebody who may not have asked for it, so there is one a
// minute for each token, whoever asks under however many keys.

extension PushSession {
  /// What to send so that a device's owner can prove that its token is his; nil when something was sent just now.
  func challenge(_ row: DeviceRow, _ token: PushToken, now: Int64) throws -> PushChallenge? {
    // A clock that was set back must not keep it from being sent.
    let recent = try session.count(
      "SELECT count(*) FROM challenge WHERE tokenIndex = ? AND issuedAt > ? AND issuedAt <= ?",
      [.bytes(row.tokenIndex), .number(now - PushLedger.challengePauseSeconds), .number(now)])
    guard recent == 0 else { return nil }
    let code = Hexadecimal.text(of: RandomBytes.make(PushLedger.challengeByteCount))
    let expiresAt = now + PushLedger.challengeSeconds
    try session.run(
      """
      INSERT INTO challenge (device, tokenIndex, codeHash, issuedAt, expiresAt, attempts) VALUES (?, ?, ?, ?, ?, 0)
      """,
      [
        .number(row.number), .bytes(row.tokenIndex), .bytes(Self.hash(code)), .number(now), .number(expiresAt),
      ])
    return PushChallenge(device: row.number, token: token, code: code, expiresAt: expiresAt)
  }

  func challenge(owner: PushOwner, deviceID: String, now: Int64) throws -> LedgerAnswer {
    guard let row = try device(owner: owner, id: deviceID), !row.isVerified, row.expiresAt > now,
      let token = row.token(keys)
    else { return .challenge(nil) }
    return .challenge(try challenge(row, token, now: now))
  }

  func prove(owner: PushOwner, deviceID: String, code: String, now: Int64) throws -> LedgerAnswer {
    guard var row = try device(owner: owner, id: deviceID), row.expiresAt > now else { return .challengeFailed }
    if !row.isVerified {
      guard try isProved(row, code, now: now) else { return .challengeFailed }
      row.isVerified = true
    }
    var registration = row.registration
    registration.removed = takeRemoved()
    return .registered(registration)
  }

  /// Whether the code is what was sent to the device. If so the token is its owner's, and those who had it before have
  /// it no more.
  func isProved(_ row: DeviceRow, _ code: String, now: Int64) throws -> Bool {
    let hash = Self.hash(code)
    // A device that has another token by now proves nothing by what was sent to the old one.
    let place: [Column] = [.number(row.number), .bytes(row.tokenIndex)]
    let known = try session.rows(
      "SELECT codeHash FROM challenge WHERE device = ? AND tokenIndex = ? AND expiresAt > ? AND attempts < ?",
      place + [.number(now), .number(PushLedger.challengeAttemptMaximum)]
    ) { $0.bytes(0) }
    let isRight = known.contains { known in
      known.withUnsafeBytes { known in hash.withUnsafeBytes { ConstantTime.areEqual(known, $0) } }
    }
    guard isRight else {
      try session.run("UPDATE challenge SET attempts = attempts + 1 WHERE device = ? AND tokenIndex = ?", place)
      return false
    }
    for other in try devices(token: row.tokenIndex) where other.owner != row.owner { try remove(other) }
    try session.run("UPDATE device SET isVerified = 1 WHERE number = ?", [.number(row.number)])
    try session.run(
      "UPDATE challenge SET attempts = ?3 WHERE device = ?1 AND tokenIndex = ?2",
      place + [.number(PushLedger.challengeAttemptMaximum)])
    add(to: .movedTokens)
    return true
  }

  private static func hash(_ code: String) -> [UInt8] { SHA256.hash(Array(code.utf8)).bytes }
}
