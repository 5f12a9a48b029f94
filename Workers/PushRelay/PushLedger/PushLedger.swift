internal import Cryptography
public import Storage
internal import Synchronization

// The push relay's ledger: one SQLite file, synchronous=FULL. What was answered to somebody stands in it, and what
// follows from it: which devices there are, whom they want to hear from, which wakes are still to be brought.
//
// Everything that a request changes is one transaction with the request's own trace, so a request that comes again,
// before a crash or after it, is answered as it was and does nothing. Many requests share one transaction, because
// what a transaction costs is the disk.
//
// The file alone holds no token: tokens stand in it encrypted, under keys that are elsewhere (`TokenKeyRing`). What is
// deleted is overwritten in the file; in the write-ahead log beside it a ciphertext may stand until the log is begun
// again, at the latest when the ledger is closed.

/// What the push relay knows, on disk.
public final class PushLedger: Ledger {
  /// `push-relay`.
  public static let worker = "push-relay"

  /// The open file.
  public let file: StorageFile
  private let currentKeys: Mutex<LedgerKeys>
  let bounds: TableBounds

  /// What the limits let through unless said otherwise, requests a minute.
  public static let requestsPerMinute = 6_000
  /// Most commands of one transaction.
  public static let commandMaximum = 1_000
  /// Devices of one owner, unless a registration says otherwise.
  public static let deviceMaximum = 10
  /// Owners that one token may stand under; of those who have proved nothing the oldest leaves.
  public static let ownersOfTokenMaximum = 4
  /// Owners of Nostr keys with devices that can be woken.
  public static let nostrKeyMaximum = 1_000
  /// Contacts of one owner.
  public static let contactMaximum = 2_000
  /// Most bytes of a policy's word.
  public static let policyByteCountMaximum = 32
  /// Bytes of payloads from which nothing more is taken into the queue.
  public static let wakeByteCountMaximum: Int64 = 512 << 20
  /// For how long after a wake is worthless its sender may ask what became of it, in seconds.
  public static let statusSeconds: Int64 = 3_600
  /// For how long a challenge can be answered, in seconds.
  public static let challengeSeconds: Int64 = 600
  /// Between two challenges to one token, in seconds.
  public static let challengePauseSeconds: Int64 = 60
  /// How long a challenge waits at most, in seconds: those of others who claim the token, one each, and the last that
  /// was sent, go before it.
  public static let challengeWaitMaximum = Int64(ownersOfTokenMaximum) * challengePauseSeconds
  /// For how long what an owner without a device says of others is kept, in seconds.
  public static let devicelessSeconds: Int64 = 3_600
  /// Wrong answers to one challenge.
  public static let challengeAttemptMaximum: Int64 = 5
  static let challengeByteCount = 16
  /// Most bytes of what an owner says he wants to be woken for: more than the largest rules that a request can hold.
  public static let rulesByteCountMaximum = 160 << 10
  /// For how long it is known that somebody was woken for an event, in seconds: longer than a gift wrap is news.
  public static let eventSeconds: Int64 = 3 * 86_400
  /// Most bytes of a credential.
  public static let credentialByteCountMaximum = 16 << 10
  /// Most credentials.
  public static let credentialMaximum: Int64 = 32
  /// Most bytes of what the limits write of themselves.
  public static let limitsByteCountMaximum = 64 << 20
  /// Most rows of one table that one sweep, or one step of turning the ring, goes through.
  public static let sweepMaximum = 10_000
  /// Most rows of one answer.
  public static let pageMaximum = 10_000

  /// Opens the file, and makes it if it is not there.
  ///
  /// - Parameters:
  ///   - path: the database file.
  ///   - keyRing: the keys under which its tokens are; they must all be there.
  ///   - requestsPerMinute: what the limits let through; messages and wakes have room for as many.
  /// - Throws: `failed` for a ring that is not this file's; `newer` for a file from the future, `corrupt`,
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
        // Else what is deleted stays in the file until something else is written there.
        try session.execute("PRAGMA secure_delete = ON")
        return try LedgerOpening(session: session, ring: keyRing, isRescue: isRescue).open()
      }
      currentKeys = Mutex(keys)
    } catch let fault {
      // What was wrong first is what is told.
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

  /// Does commands one after the other.
  ///
  /// - Parameters:
  ///   - commands: at most ``commandMaximum``.
  ///   - session: the transaction they are written in.
  /// - Returns: an answer for each.
  public func write(_ commands: [PushWrite], in session: StorageSession) throws -> [LedgerAnswer] {
    precondition(commands.count <= Self.commandMaximum, "one transaction does at most \(Self.commandMaximum) commands")
    let ledger = try PushSession(session, keys, bounds)
    let answers = try commands.map { try ledger.run($0) }
    try ledger.finish()
    return answers
  }

  /// Begins to use another ring: from the next transaction on its newest key encrypts. What stands under another stays
  /// until it is encrypted again (`rekey`).
  ///
  /// - Throws: `failed` for a ring without a key that something stands under, or with another one of that name; then
  ///   all stays as it was.
  public func turn(to ring: TokenKeyRing) async throws(StorageFault) {
    _ = try await transaction { session in
      try LedgerOpening(session: session, ring: ring, isRescue: false).keys()
    } onCommit: { [self] keys in
      currentKeys.withLock { $0 = keys }
    }
  }

  /// The keys in use. A transaction that writes asks in its midst: the ring may turn while it waits for its turn. One
  /// that reads asks behind its rows: these are under no younger key then.
  var keys: LedgerKeys { currentKeys.withLock { $0 } }
}

extension PushSession {
  /// Does one command. What may refuse it is looked at before anything is written.
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
    case .sweep(let now, let limit): return try sweep(now: now, limit: limit)
    case .rekey(let limit): return try rekey(limit: limit)
    case .saveCredential(let name, let value, let savedAt): return try saveCredential(name, value, savedAt: savedAt)
    case .saveLimits(let snapshot, let savedAt, let isClean):
      return try saveLimits(snapshot, savedAt: savedAt, isClean: isClean)
    }
  }
}
