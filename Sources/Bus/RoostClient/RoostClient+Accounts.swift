public import Contracts
internal import Cryptography
internal import EventLoop
public import Frames
internal import NostrContracts

// Accounts: making, unlocking, choosing, leaving and forgetting them.
//
// A secret is typed into the application and travels sealed: only the signer's process can open it. Making and
// unlocking are sent at most once, since a second delivery would make a second key or try a passphrase again; after
// `outcome` `unknown` ask `accountDetails`.

extension RoostClient {
  /// How long making, opening or storing a key may take, in milliseconds: deriving a key from a passphrase takes up to
  /// ten seconds.
  private static let keyMilliseconds: UInt32 = 60_000

  /// The accounts, keys that are not used and why, and the key that secrets are sealed for.
  public func accountDetails() async throws(Refusal) -> SignerAccounts {
    try await request(
      SignerMethod.accounts, NoArguments(), options: .idempotent(ttlMilliseconds: Self.signerMilliseconds))
  }

  /// Seals a secret for the signer that runs now, and wipes it, also when this fails.
  ///
  /// - Parameter secret: a passphrase, or a key for ``importAccount(_:secret:passphrase:)``: its UTF-8. 1 to 1,024
  ///   bytes.
  /// - Throws: `bad-request` for an empty or too long secret.
  public func sealed(_ secret: inout [UInt8]) async throws(Refusal) -> SealedSecret {
    let key: String
    do throws(Refusal) { key = try await accountDetails().sealingKey } catch {
      secret.wipe()
      throw error
    }
    defer { secret.wipe() }
    let result = secret.withUnsafeBytes { bytes -> Result<SealedSecret, Refusal> in
      do throws(Refusal) { return .success(try SealedSecret.seal(bytes, for: key)) } catch { return .failure(error) }
    }
    return try result.get()
  }

  /// Makes an account with a new key.
  ///
  /// - Parameters:
  ///   - name: lower case letters, digits, `-` and `_`, at most 32.
  ///   - passphrase: encrypts the stored key; nil: it is stored as it is.
  /// - Throws: `bad-request` with the reason; `sealed-for-another` when the signer has restarted since: seal it again.
  public func makeAccount(_ name: String, passphrase: SealedSecret? = nil) async throws(Refusal) -> SignerAccount {
    try await changing(SignerMethod.generate, SignerGenerate(name: name, passphrase: passphrase))
  }

  /// Makes an account with a key that was made elsewhere. Doing it again changes nothing.
  ///
  /// - Parameters:
  ///   - name: as for ``makeAccount(_:passphrase:)``.
  ///   - secret: `nsec1…`, `ncryptsec1…` or 64 hexadecimal digits.
  ///   - passphrase: of an `ncryptsec` the one that opens it and stays; otherwise the one to store the key under, if
  ///     any.
  /// - Throws: `wrong-passphrase`; otherwise as ``makeAccount(_:passphrase:)``.
  public func importAccount(
    _ name: String, secret: SealedSecret, passphrase: SealedSecret? = nil
  ) async throws(Refusal) -> SignerAccount {
    try await changing(SignerMethod.import, SignerImport(name: name, secret: secret, passphrase: passphrase))
  }

  /// Unlocks an account, which is then no longer left.
  ///
  /// - Parameters:
  ///   - account: may be nil while exactly one is locked.
  ///   - passphrase: nil for an account that is left and whose key is stored unencrypted.
  /// - Throws: `no-such-account`, `wrong-passphrase`, `sealed-for-another`, `rate-limited`.
  @discardableResult
  public func unlockAccount(
    _ account: String? = nil, passphrase: SealedSecret? = nil
  ) async throws(Refusal) -> SignerAccount {
    try await changing(SignerMethod.unlock, SignerUnlock(account: account, passphrase: passphrase))
  }

  /// Forgets a key until its passphrase is given again; with nil all keys that have one.
  @discardableResult
  public func lockAccount(_ account: String? = nil) async throws(Refusal) -> SignerAccounts {
    try await repeating(SignerMethod.lock, SignerLock(account: account))
  }

  /// Stores a key under another passphrase.
  ///
  /// - Parameters:
  ///   - account: may be nil while there is exactly one.
  ///   - present: its present passphrase; nil if the key is stored unencrypted.
  ///   - new: the new one; nil: the key is stored unencrypted.
  /// - Throws: `no-such-account`, `wrong-passphrase`, `sealed-for-another`.
  @discardableResult
  public func changePassphrase(
    of account: String? = nil, from present: SealedSecret?, to new: SealedSecret?
  ) async throws(Refusal) -> SignerAccount {
    try await changing(SignerMethod.passphrase, SignerPassphrase(account: account, present: present, new: new))
  }

  /// From now on this account is meant where none is named; one that was left comes back.
  @discardableResult
  public func useAccount(_ account: String) async throws(Refusal) -> SignerAccount {
    try await repeating(SignerMethod.use, SignerChoose(account: account))
  }

  /// Locks an account and ends what is asked of relays for it, until it is used or unlocked. Everything is kept.
  @discardableResult
  public func leaveAccount(_ account: String) async throws(Refusal) -> SignerAccount {
    try await repeating(SignerMethod.leave, SignerLeave(account: account))
  }

  /// Removes an account from this machine: its key, and everything that is its alone. Without a copy of the key the
  /// account is lost: an application asks its user before, and shows the npub.
  ///
  /// - Parameters:
  ///   - account: the account as ``accounts()`` lists it, so that no other one is meant.
  ///   - onStep: each worker's step, when it is done or waits.
  /// - Returns: what was removed and what stays. It continues by itself after any death; a repeated call joins it.
  /// - Throws: `no-such-account` also when it is forgotten already; `outcome` `unknown` when the connection was lost.
  public func forgetAccount(
    _ account: SignerAccount, onStep: @EventLoopActor (ForgetStep) -> Void = { _ in }
  ) async throws(Refusal) -> PeopleForgotten {
    // Before anything is done: the worker that does it must be there.
    _ = try await peopleStatus()
    _ = try await repeating(SignerMethod.leave, SignerLeave(account: account.publicKey, isForgetting: true))
    let steps = try await stream(PeopleMethod.forget, PeopleForget(account: account.publicKey))
    while let item = try await steps.next() {
      switch item {
      case .part(let step): onStep(step)
      case .end(let end): return end
      }
    }
    throw Refusal(.unavailable, "the worker ended the answer", outcome: .unknown)
  }

  private func changing<Arguments>(
    _ method: Method<Arguments, SignerAccount>, _ arguments: Arguments
  ) async throws(Refusal) -> SignerAccount {
    try await request(
      method, arguments, options: RequestOptions(ttlMilliseconds: Self.keyMilliseconds, atMostOnce: true))
  }

  private func repeating<Arguments, Answer>(
    _ method: Method<Arguments, Answer>, _ arguments: Arguments
  ) async throws(Refusal) -> Answer {
    try await request(method, arguments, options: .idempotent(ttlMilliseconds: Self.signerMilliseconds))
  }
}
