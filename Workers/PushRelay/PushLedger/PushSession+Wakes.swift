internal import Cryptography
internal import PushDelivery
internal import Storage

// A wake to a known recipient and one to an unknown recipient are looked up, decided and stored alike, row for row,
// since the time of an answer reveals as much as its text. A wake that will not be delivered is put into the queue too,
// marked, and settled as soon as one that is delivered at once: a missing row would save a page or two on the disk,
// which can be measured.

extension PushSession {
  func wake(_ command: WakeCommand) throws -> LedgerAnswer {
    if let message = command.message, isForgotten(message) { return .stale }
    let sender = command.wake.sender?.bytes ?? []
    if let answer = try answer(to: command, sender) { return answer }
    let isRoom = hasRoom(.nonce, .wake) && counter(Self.wakeBytes) < PushLedger.wakeByteCountMaximum
    guard isRoom else { return .unavailable }
    let ruling = command.decide(try standing(command.wake))
    let answer: LedgerAnswer
    switch ruling.answer {
    case .limited(let seconds, let isOwnLimit):
      return .limited(retryAfterSeconds: seconds, isOwnLimit: isOwnLimit)
    case .queued: answer = .queued(id: command.wake.id)
    case .notFound: answer = .recipientNotFound
    }
    add(to: ruling.isQueued ? .acceptedWakes : .droppedWakes)
    if case .queued = answer {
      try enqueue(command.wake, isDropped: !ruling.isQueued)
      // Without room for a status the wake is accepted all the same.
      if !sender.isEmpty, hasRoom(.status) { try follow(command.wake, ruling.telling) }
    }
    try remember(command, sender, answer)
    return answer
  }

  /// The earlier answer to a wake of this sender with the same nonce. A repeated message has the same nonce too, since
  /// the signature covers it. The nonce is kept for as long as the newest message with it could be repeated.
  private func answer(to command: WakeCommand, _ sender: [UInt8]) throws -> LedgerAnswer? {
    let kept = try session.first(
      "SELECT number, body, answer, expiresAt FROM nonce WHERE sender = ? AND nonce = ?",
      sender, command.wake.nonce
    ) { (number: $0.number(0), body: $0.bytes(1), answer: $0.bytes(2), expiresAt: $0.number(3)) }
    guard let kept else { return nil }
    guard kept.body == command.bodyHash.bytes else { return .nonceReused }
    guard let answer = KeptAnswer.answer(kept.answer) else {
      throw StorageFault(.corrupt, path: session.path, "an answer that was kept cannot be one")
    }
    add(to: .repeatedMessages)
    if kept.expiresAt < command.nonceExpiresAt {
      try session.run(
        "UPDATE nonce SET expiresAt = ? WHERE number = ?", command.nonceExpiresAt, kept.number)
    }
    return answer
  }

  private func remember(_ command: WakeCommand, _ sender: [UInt8], _ answer: LedgerAnswer) throws {
    try session.run(
      "INSERT INTO nonce (sender, nonce, body, expiresAt, answer) VALUES (?, ?, ?, ?, ?)",
      sender, command.wake.nonce, command.bodyHash.bytes, command.nonceExpiresAt, KeptAnswer.bytes(answer) ?? [])
    add(1, to: .nonce)
  }

  func standing(_ wake: Wake) throws -> WakeStanding {
    let devices = try session.rows(
      """
      SELECT capabilities, isVerified FROM device WHERE owner = ? AND expiresAt > ? AND isQuarantined = 0
      """, wake.recipient, wake.acceptedAt / 1_000
    ) { (capabilities: DeviceRow.capabilities($0.bytes(0)) ?? [], isVerified: $0.number(1) != 0) }
    let wanting = devices.filter { wake.isWanted(by: $0.capabilities) }
    let contact = try session.first(
      "SELECT kind FROM contact WHERE owner = ? AND other = ?",
      wake.recipient, wake.sender?.bytes ?? []
    ) { ContactKind(rawValue: $0.number(0)) }
    let policy = try session.first("SELECT policy FROM account WHERE owner = ?", wake.recipient) {
      $0.isNull(0) ? nil : $0.text(0)
    }
    return WakeStanding(
      deviceCount: wanting.count, verifiedCount: wanting.count(where: \.isVerified), contact: contact, policy: policy)
  }

  func enqueue(_ wake: Wake, isDropped: Bool = false) throws {
    try session.run(
      """
      INSERT INTO wake (id, recipient, sender, type, payload, nonce, acceptedAt, expiresAt, topic, event, isDropped)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
      """,
      wake.id, wake.recipient, wake.sender, wake.type, wake.payload, wake.nonce, wake.acceptedAt, wake.expiresAt,
      wake.topic?.rawValue, wake.event, isDropped)
    add(1, to: .wake)
    add(wake.payload?.count ?? 0, to: Self.wakeBytes)
  }

  private func follow(_ wake: Wake, _ telling: Int64) throws {
    let isTold = telling != WakeRuling.untold
    // A sender that may learn nothing needs no row for the whole life of the wake, which can be weeks.
    let keepUntil = (isTold ? wake.expiresAt : wake.acceptedAt) / 1_000 + PushLedger.statusSeconds
    try session.run(
      "INSERT INTO status (id, sender, state, isTold, keepUntil) VALUES (?, ?, 0, ?, ?)",
      wake.id, wake.sender?.bytes ?? [], telling, keepUntil)
    add(1, to: .status)
  }

  // MARK: Ends

  func settle(_ settlements: [WakeSettlement]) throws {
    // For a wake that ends here no devices are written first: they would be deleted at once.
    let ended = Set(settlements.lazy.filter { $0.end != nil }.map(\.wake))
    for settlement in settlements where settlement.end != nil || !ended.contains(settlement.wake) {
      // It may have been swept, or settled by a process that died before it got the answer.
      guard let queued = try queued(settlement.wake) else { continue }
      if let end = settlement.end {
        try close(queued, end)
        continue
      }
      for device in settlement.devices {
        try session.run(
          "INSERT OR IGNORE INTO delivery (wake, device) VALUES (?, ?)", settlement.wake, device)
      }
    }
  }

  /// A wake in the queue: what is counted of it, and the id that its sender knows.
  struct Queued {
    var number: Int64
    var id: [UInt8]
    var payloadByteCount: Int
  }

  static let queuedColumns = "number, id, length(payload)"

  static func queued(_ statement: StorageStatement) -> Queued {
    Queued(number: statement.number(0), id: statement.bytes(1), payloadByteCount: Int(statement.number(2)))
  }

  private func queued(_ number: Int64) throws -> Queued? {
    try session.first("SELECT \(Self.queuedColumns) FROM wake WHERE number = ?", number) {
      Self.queued($0)
    }
  }

  func close(_ queued: Queued, _ end: WakeEnd) throws {
    try session.run("DELETE FROM delivery WHERE wake = ?", queued.number)
    try session.run("DELETE FROM wake WHERE number = ?", queued.number)
    try session.run("UPDATE status SET state = ? WHERE id = ?", end.rawValue, queued.id)
    add(-1, to: .wake)
    add(-queued.payloadByteCount, to: Self.wakeBytes)
    switch end {
    case .delivered: add(to: .deliveredWakes)
    case .failed: add(to: .failedWakes)
    case .expired: add(to: .expiredWakes)
    case .coalesced: add(to: .coalescedWakes)
    case .dropped: break
    }
  }
}
