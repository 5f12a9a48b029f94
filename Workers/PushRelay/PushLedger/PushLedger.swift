internal import Cryptography
public import Storage
internal import Synchronization

// The push relay's ledger: one SQLite file, synchronous=FULL. It has what was answered, and what follows from that: the
// devices, which senders may wake them, and which wakes are still to be delivered.
//
// Everything that a request changes is one transaction with the record of the request. So a repeated request, before a
// crash or after it, gets the same answer and does nothing. Many requests share one transaction, because the cost of a
// transaction is the disk.
//
// The file alone reveals no token: tokens are encrypted in it, under keys that are elsewhere (`TokenKeyRing`). Deleted
// content is overwritten in the file. In the write-ahead log beside it a ciphertext may remain until the log restarts,
// at the latest when the ledger is closed.

/// What the push relay knows, on the disk.
public final class PushLedger: Ledger {
  /// `push-relay`.
  public static let worker = "push-relay"

  /// The open file.
  public let file: StorageFile
  private let currentKeys: Mutex<LedgerKeys>
  let bounds: TableBounds

  /// The requests a minute that the limits admit by default.
  public static let requestsPerMinute = 6_000
  /// Most commands of one transaction.
  public static let commandMaximum = 1_000
  /// Devices of one owner, unless a registration has another maximum.
  public static let deviceMaximum = 10
  /// Owners that may claim one token; beyond it the oldest unproved claim is removed.
  public static let ownersOfTokenMaximum = 4
  /// Owners of Nostr keys with devices that can be woken.
  public static let nostrKeyMaximum = 1_000
  /// Contacts of one owner.
  public static let contactMaximum = 2_000
  /// Most bytes of a policy's word.
  public static let policyByteCountMaximum = 32
  /// With this many bytes of payloads in the queue, no more wakes are accepted.
  public static let wakeByteCountMaximum: Int64 = 512 << 20
  /// How long after a wake expires its sender may ask what became of it, in seconds.
  public static let statusSeconds: Int64 = 3_600
  /// How long a challenge can be answered, in seconds.
  public static let challengeSeconds: Int64 = 600
  /// The pause between two challenges to one token, in seconds.
  public static let challengePauseSeconds: Int64 = 60
  /// The longest wait of a challenge, in seconds: before it go the challenges of the other owners that claim the token,
  /// one each, and the last one sent.
  public static let challengeWaitMaximum = Int64(ownersOfTokenMaximum) * challengePauseSeconds
  /// How long the contacts and rules of an owner without a device are kept, in seconds.
  public static let devicelessSeconds: Int64 = 3_600
  /// Wrong answers to one challenge.
  public static let challengeAttemptMaximum: Int64 = 5
  static let challengeByteCount = 16
  /// Most bytes of an owner's rules: more than the largest rules that a request can have.
  public static let rulesByteCountMaximum = 160 << 10
  /// How long the ledger remembers that an event woke its recipient, in seconds: longer than a gift wrap is news.
  public static let eventSeconds: Int64 = 3 * 86_400
  /// Most bytes of a credential.
  public static let credentialByteCountMaximum = 16 << 10
  /// Most credentials.
  public static let credentialMaximum: Int64 = 32
  /// Most bytes of a snapshot of the limits.
  public static let limitsByteCountMaximum = 64 << 20
  /// Most rows of one table in one sweep, or in one step of turning the ring.
  public static let sweepMaximum = 10_000
  /// Most rows of one answer.
  public static let pageMaximum = 10_000

  /// Opens the file, or makes it if it is missing.
  ///
  /// - Parameters:
  ///   - path: the database file.
  ///   - keyRing: the keys of its tokens; all must be present.
  ///   - requestsPerMinute: what the limits admit; messages and wakes have room for as many.
  /// - Throws: `failed` for a ring that does not belong to this file; `newer` for a file of a later version, `corrupt`,
  ///   `inaccessible`, `busy`, `full`.
  public convenience init(
    path: String, keyRing: TokenKeyRing, requestsPerMinute: Int = PushLedger.requestsPerMinute
  ) throws(StorageFault) {
    try self.init(path: path, keyRing: keyRing, requestsPerMinute: requestsPerMinute, isRescue: false)
  }

  init(path: String, keyRing: TokenKeyRing, requestsPerMinute: Int, isRescue: Bool) throws(StorageFault) {
    bounds = TableBounds(requestsPerMinute: requestsPerMinute)
    let file = try Self.ledgerFile(path).storage()
    do throws(StorageFault) {
      let keys = try file.writeNow { session in
        // Otherwise deleted content stays in the file until something else is written there.
        try session.execute("PRAGMA secure_delete = ON")
        return try LedgerOpening(session: session, ring: keyRing, isRescue: isRescue).open()
      }
      currentKeys = Mutex(keys)
    } catch let fault {
      // The first fault is reported.
      do throws(StorageFault) { try file.close() } catch { throw fault }
      throw fault
    }
    self.file = file
  }

  /// The file at a path, and how it is opened.
  public static func ledgerFile(_ path: String) -> LedgerFile {
    LedgerFile(
      path: path, StorageSettings(durability: .full, readerCount: 2, cacheByteCount: 8 << 20),
      PushSchema.migrations, table: "device", noun: "devices")
  }

  // MARK: Writing

  /// Executes commands one after the other.
  ///
  /// - Parameters:
  ///   - commands: at most ``commandMaximum``.
  ///   - session: the transaction in which they are written.
  /// - Returns: an answer for each.
  public func write(_ commands: [PushWrite], in session: StorageSession) throws -> [LedgerAnswer] {
    precondition(commands.count <= Self.commandMaximum, "one transaction does at most \(Self.commandMaximum) commands")
    let ledger = try PushSession(session, keys, bounds)
    let answers = try commands.map { try ledger.run($0) }
    try ledger.finish()
    return answers
  }

  /// Uses another ring: from the next transaction on its newest key encrypts. What is under another key stays so until
  /// it is encrypted again (`rekey`).
  ///
  /// - Throws: `failed` for a ring without a key that the file needs, or with another key of its name; then nothing
  ///   changes.
  public func turn(to ring: TokenKeyRing) async throws(StorageFault) {
    _ = try await transaction { session in
      try LedgerOpening(session: session, ring: ring, isRescue: false).keys()
    } onCommit: { [self] keys in
      currentKeys.withLock { $0 = keys }
    }
  }

  /// The keys in use. A writing transaction reads this inside itself: the ring may turn while it waits to begin. A
  /// reading one reads this after its rows: then no row is under a newer key.
  var keys: LedgerKeys { currentKeys.withLock { $0 } }
}

extension PushSession {
  /// Executes one command. Everything that may refuse it is checked before anything is written.
  func run(_ command: PushWrite) throws -> LedgerAnswer {
    switch command {
    case .register(let command): return try register(command)
    case .unregister(let command): return try unregister(command)
    case .wake(let command): return try wake(command)
    case .contacts(let command): return try contacts(command)
    case .rules(let command): return try rules(command)
    case .events(let command): return try events(command)
    case .settle(let settlements):
      try settle(settlements)
      return .done
    case .prune(let command): return try prune(command)
    case .forget(let owner): return try forgetAll(of: owner)
    case .sweep(let now, let limit): return try sweep(now: now, limit: limit)
    case .rekey(let limit): return try rekey(limit: limit)
    case .saveCredential(let name, let value, let savedAt): return try saveCredential(name, value, savedAt: savedAt)
    case .saveLimits(let snapshot, let savedAt, let isClean):
      return try saveLimits(snapshot, savedAt: savedAt, isClean: isClean)
    }
  }
}
