public import Addresses
public import Contracts
public import Cryptography
public import Frames
internal import JSON
public import Nostr

// What needs a secret key. No secret passes through here: the signer has them, and does what it is asked. An `account`
// is a name, an `npub` or 64 hexadecimal digits, and may be nil while there is one.
//
// Requests for an account that is LOCKED wait in the signer for somebody to type its passphrase, for nine tenths of
// `signerMilliseconds`, and are then refused as `locked`.

/// Something said under a seal (NIP-59), after the gift wrap was opened and all of it checked.
public struct UnwrappedRumor: Sendable, Hashable {
  /// What was said. Its author is proven by the seal; it has no signature of its own.
  public let rumor: UnsignedEvent
  /// The account it was for.
  public let recipient: PublicKey
  /// What is unusual about it, in sentences' ends.
  public let warnings: [String]
}

/// How a text is encrypted.
public enum Encryption: String, Sendable, Hashable {
  /// NIP-44: what to use.
  case nip44
  /// NIP-04: old, it tells the length of the text and can be changed on the way. For what only reads that.
  case nip04
}

extension RoostClient {
  /// How long a request to the signer is of use, in milliseconds: long enough for a person to type a passphrase.
  nonisolated static let signerMilliseconds: UInt32 = 30_000

  /// How long such a request waits for a passphrase, in milliseconds: nine tenths of the time that its answer is of
  /// use.
  public nonisolated static let lockedMilliseconds = lockedMilliseconds(within: signerMilliseconds)

  /// The same for a request whose answer is of use for so long.
  public nonisolated static func lockedMilliseconds(within timeoutMilliseconds: UInt32) -> UInt64 {
    UInt64(timeoutMilliseconds) * 9 / 10
  }

  /// The accounts that the signer has keys of.
  public func accounts() async throws(Refusal) -> [SignerAccount] {
    try await request(SignerMethod.accounts, NoArguments(), options: Self.signing).accounts
  }

  /// Has a draft signed.
  ///
  /// - Parameters:
  ///   - draft: the draft. Values of the tags `p`, `e`, `a` and `q` are written as NIP-01 has them, in hexadecimal
  ///     digits.
  ///   - account: who signs.
  ///   - allowSecrets: whether `nsec1…` or `ncryptsec1…` may stand in it: an example, a key that was given up.
  /// - Throws: `locked`, `no-such-account`, `bad-request` (several accounts and none named; what nobody can mean; a
  ///   secret key in it), `forbidden` (kind 22242), `rate-limited`.
  public func sign(
    _ draft: EventDraft, as account: String? = nil, allowSecrets: Bool = false
  ) async throws(Refusal) -> Event {
    try await sign(template: draft.template, as: account, allowSecrets)
  }

  /// Has an event object signed, in which `pubkey`, `created_at`, `tags`, `content`, `id` and `sig` may be missing. A
  /// member that no event has, or that stands there twice, is refused.
  ///
  /// - Parameters:
  ///   - json: the event object.
  ///   - account: who signs: a name, npub or hex; the only account when nil.
  ///   - allowSecrets: whether it is meant that there is a secret key in it.
  ///   - timeoutMilliseconds: how long it may take; a locked account is waited for during nine tenths of it. 30 seconds
  ///     when nil.
  public func sign(
    json: [UInt8], as account: String? = nil, allowSecrets: Bool = false, timeoutMilliseconds: UInt32? = nil
  ) async throws(Refusal) -> Event {
    // Of two members of the same name the signer would see one.
    if let flaw = JSONFlaw.first(in: json) { throw Refusal(.badRequest, "\(flaw)", outcome: .notStarted) }
    return try await sign(
      template: JSONPayload.decode(JSONValue.self, from: json), as: account, allowSecrets,
      timeoutMilliseconds: timeoutMilliseconds ?? Self.signerMilliseconds)
  }

  private func sign(
    template: JSONValue, as account: String?, _ allowSecrets: Bool, timeoutMilliseconds: UInt32 = signerMilliseconds
  ) async throws(Refusal) -> Event {
    let wanted = SignerSign(account: account, event: template, allowSecrets: allowSecrets ? true : nil)
    let options = RequestOptions.idempotent(ttlMilliseconds: timeoutMilliseconds)
    return try Self.signedEvent(try await request(SignerMethod.sign, wanted, options: options).event)
  }

  /// Has a draft signed and publishes it: see ``publish(_:to:expiresAfterSeconds:replaces:)``. When the signer has
  /// signed and the planner then refuses, nothing was published; doing it again signs anew.
  @discardableResult
  public func publish(
    _ draft: EventDraft, as account: String? = nil, to relays: [RelayURL]? = nil, allowSecrets: Bool = false
  ) async throws(Refusal) -> (event: Event, publication: Publication) {
    let event = try await sign(draft, as: account, allowSecrets: allowSecrets)
    return (event, try await publish(event, to: relays))
  }

  /// Has a draft signed and stores it, and sends it nowhere: see ``store(_:)``.
  @discardableResult
  public func store(
    _ draft: EventDraft, as account: String? = nil, allowSecrets: Bool = false
  ) async throws(Refusal) -> OwnEvent {
    try await store(sign(draft, as: account, allowSecrets: allowSecrets))
  }

  /// Encrypts a text for `peer`.
  public func encrypt(
    _ text: String, for peer: PublicKey, as account: String? = nil, by encryption: Encryption = .nip44
  ) async throws(Refusal) -> String {
    let cipher = SignerCipher(account: account, peer: "\(peer)", text: text)
    let method = encryption == .nip44 ? SignerMethod.nip44Encrypt : SignerMethod.nip04Encrypt
    return try await request(method, cipher, options: Self.signing).text
  }

  /// Decrypts what `peer` encrypted for the account, or the account for `peer`.
  ///
  /// - Throws: `bad-request` when it does not decrypt.
  public func decrypt(
    _ payload: String, from peer: PublicKey, as account: String? = nil, by encryption: Encryption = .nip44
  ) async throws(Refusal) -> String {
    let cipher = SignerCipher(account: account, peer: "\(peer)", text: payload)
    let method = encryption == .nip44 ? SignerMethod.nip44Decrypt : SignerMethod.nip04Decrypt
    return try await request(method, cipher, options: Self.signing).text
  }

  /// Puts a draft under a seal and into a gift wrap for one recipient (NIP-59). Who speaks to several wraps once for
  /// each, with the same `createdAt`. It is looked at as by ``sign(_:as:allowSecrets:)``.
  ///
  /// - Returns: the gift wrap, to be sent to the recipient's relays.
  public func wrap(
    _ rumor: EventDraft, for recipient: PublicKey, as account: String? = nil, allowSecrets: Bool = false
  ) async throws(Refusal) -> Event {
    let wanted = SignerWrap(
      account: account, recipient: "\(recipient)", rumor: rumor.template, allowSecrets: allowSecrets ? true : nil)
    return try Self.signedEvent(try await request(SignerMethod.wrap, wanted, options: Self.signing).wrap)
  }

  /// Opens a gift wrap, with all checks of NIP-59.
  ///
  /// - Parameters:
  ///   - wrap: kind 1059 or 21059.
  ///   - account: for whom it is; nil = the account that its tag `p` names.
  public func unwrap(_ wrap: Event, as account: String? = nil) async throws(Refusal) -> UnwrappedRumor {
    let unwrapped = try await request(
      SignerMethod.unwrap, SignerUnwrap(account: account, wrap: RawJSON(wrap.json)), options: Self.signing)
    let rumor: UnsignedEvent
    do throws(EventFault) { rumor = try UnsignedEvent(json: unwrapped.rumor.bytes) } catch {
      throw Self.signerAnswered("a rumor", "\(error)")
    }
    guard let recipient = PublicKey(unwrapped.recipient) else { throw Self.signerAnswered("a key", "it is none") }
    return UnwrappedRumor(rumor: rumor, recipient: recipient, warnings: unwrapped.warnings)
  }

  // MARK: Asking

  /// Signing, encrypting and opening twice does no harm.
  private static let signing = RequestOptions.idempotent(ttlMilliseconds: signerMilliseconds)

  private static func signedEvent(_ json: RawJSON) throws(Refusal) -> Event {
    do throws(EventFault) { return try Event(json: json.bytes) } catch {
      throw signerAnswered("an event", "\(error)")
    }
  }

  private static func signerAnswered(_ what: String, _ reason: String) -> Refusal {
    Refusal(.badPayload, "the signer answered with something else than \(what): \(reason)", outcome: .done)
  }
}
