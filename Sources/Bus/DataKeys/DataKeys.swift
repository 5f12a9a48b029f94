public import Bus
public import Contracts
public import Cryptography
public import EventLoop
public import Frames
internal import NostrContracts
public import Storage

// The data keys of a worker's role, one for each account, while the account is unlocked.
//
//     key(of:) ─▶ in memory ─────────────────────────────────────────────▶ DataKey
//                └ text in the worker's ledger ─▶ signer.data-key ─▶ opened ┘
//                └ no text ─▶ signer.data-key ─▶ made ─▶ text into the ledger ┘ only then it is used
//
// An account that is locked, left or removed loses its key here at once (`accountsAre`), also one that is just being
// asked for. What was opened with the key meanwhile is the caller's to forget.

/// Gets data keys from the signer, and keeps them in memory.
@EventLoopActor
public final class DataKeys {
  /// The worker's ledger of texts.
  public struct Texts {
    /// The text of an account's data key; nil if it was not made yet.
    public var read: @EventLoopActor (PublicKey) async throws(Refusal) -> String?
    /// Keeps the text of an account; when it returns, the text survives a loss of power.
    public var keep: @EventLoopActor (PublicKey, String) async throws(Refusal) -> Void

    /// A ledger of texts.
    public init(
      read: @escaping @EventLoopActor (PublicKey) async throws(Refusal) -> String?,
      keep: @escaping @EventLoopActor (PublicKey, String) async throws(Refusal) -> Void
    ) {
      (self.read, self.keep) = (read, keep)
    }

    /// A ledger of texts in a database; its faults become refusals.
    public init(
      reading: @escaping @EventLoopActor (PublicKey) async throws(StorageFault) -> String?,
      keeping: @escaping @EventLoopActor (PublicKey, String) async throws(StorageFault) -> Void
    ) {
      self.init(
        read: { account throws(Refusal) in
          do throws(StorageFault) { return try await reading(account) } catch { throw Self.refusal(error) }
        },
        keep: { account, text throws(Refusal) in
          do throws(StorageFault) { try await keeping(account, text) } catch { throw Self.refusal(error) }
        })
    }

    private static func refusal(_ fault: StorageFault) -> Refusal {
      Refusal(fault.kind == .full ? .diskFull : .failed, fault.description, outcome: .notStarted)
    }
  }

  private let bus: BusConnection
  private let texts: Texts
  private var keys: [PublicKey: DataKey] = [:]
  /// Counts for each account how often its key was dropped.
  private var drops: [PublicKey: UInt64] = [:]
  private var asking: [PublicKey: Task<Result<DataKey, Refusal>, Never>] = [:]

  /// How long the signer may take, which includes the wait for a passphrase.
  private static let answerMilliseconds: UInt32 = 5_000

  /// No keys yet.
  public init(_ bus: BusConnection, _ texts: Texts) { (self.bus, self.texts) = (bus, texts) }

  /// The accounts as the signer reports them (`signer.accounts`, `signer.changes`): those that are not unlocked lose
  /// their keys here.
  public func accountsAre(_ accounts: [SignerAccount]) {
    let open = Set(accounts.filter { $0.state == .unlocked }.compactMap { PublicKey($0.publicKey) })
    for account in Set(keys.keys).union(asking.keys) where !open.contains(account) { drop(account) }
  }

  /// Drops the key of one account.
  public func drop(_ account: PublicKey) {
    keys[account] = nil
    asking[account] = nil
    drops[account, default: 0] += 1
  }

  /// The key of an account, if it is in memory: no request is made.
  public func known(_ account: PublicKey) -> DataKey? { keys[account] }

  /// The key of an account; made at the first call.
  ///
  /// - Throws: `locked` if the account is locked or left; what the signer or the ledger refuses with.
  public func key(of account: PublicKey) async throws(Refusal) -> DataKey {
    if let known = keys[account] { return known }
    if let task = asking[account] { return try await task.value.get() }
    let task = EventLoopActor.task { [self] () -> Result<DataKey, Refusal> in
      do throws(Refusal) { return .success(try await ask(account)) } catch { return .failure(error) }
    }
    asking[account] = task
    let result = await task.value
    if asking[account] == task { asking[account] = nil }
    return try result.get()
  }

  private func ask(_ account: PublicKey) async throws(Refusal) -> DataKey {
    let before = drops[account]
    let stored = try await texts.read(account)
    // Made for this one answer, so that the key passes the hub sealed.
    let once = SecretKey.generate()
    let wanted = SignerDataKeyRequest(
      account: account.description, sealingKey: once.publicKey.description, text: stored)
    let answer = try await bus.request(SignerMethod.dataKey, wanted, ttlMilliseconds: Self.answerMilliseconds)
    let key = try answer.key.open(by: once) { bytes throws(Refusal) in
      guard bytes.count == DataKey.byteCount else {
        throw Refusal(.badPayload, "the signer's data key does not have \(DataKey.byteCount) bytes")
      }
      return DataKey(bytes)
    }
    // What is sealed with a key whose text is lost could never be opened again.
    if stored == nil {
      try await texts.keep(account, answer.text)
      // Another one may have been kept meanwhile, for an account that was locked and unlocked: that one counts.
      if try await texts.read(account) != answer.text { return try await ask(account) }
    }
    guard drops[account] == before else {
      throw Refusal(.locked, "the account was locked meanwhile", outcome: .notStarted)
    }
    keys[account] = key
    return key
  }
}
