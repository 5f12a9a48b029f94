public import Addresses
public import Contracts
public import Cryptography
public import Frames
internal import JSON
public import Nostr

// Operations that need a secret key. No secret key passes through here: the signer holds the keys and does these
// operations. An `account` is a name, an `npub` or 64 hexadecimal digits, and may be nil while there is exactly one.
//
// Requests for a LOCKED account wait in the signer for a person to type its passphrase, for nine tenths of
// `signerMilliseconds`, and are then refused as `locked`.

/// The contents of a gift wrap (NIP-59), opened and completely checked.
public struct UnwrappedRumor: Sendable, Hashable {
  /// The rumor. The seal proves its author; it has no signature of its own.
  public let rumor: UnsignedEvent
  /// The account that received it.
  public let recipient: PublicKey
  /// What is unusual about it, each as the end of a sentence.
  public let warnings: [String]
}

/// How a text is encrypted.
public enum Encryption: String, Sendable, Hashable {
  /// NIP-44: the recommended form.
  case nip44
  /// NIP-04: old; it reveals the length of the text and can be modified in transit. For programs that read only this
  /// form.
  case nip04
}

extension RoostClient {
  /// The time limit of a request to the signer, in milliseconds: long enough for a person to type a passphrase.
  nonisolated static let signerMilliseconds: UInt32 = 30_000

  /// How long such a request waits for a passphrase, in milliseconds: nine tenths of its time limit.
  public nonisolated static let lockedMilliseconds = lockedMilliseconds(within: signerMilliseconds)

  /// The same for a request with this time limit.
  public nonisolated static func lockedMilliseconds(within timeoutMilliseconds: UInt32) -> UInt64 {
    UInt64(timeoutMilliseconds) * 9 / 10
  }

  /// The accounts whose keys the signer holds.
  public func accounts() async throws(Refusal) -> [SignerAccount] {
    try await request(SignerMethod.accounts, NoArguments(), options: Self.signing).accounts
  }

  /// Signs a draft.
  ///
  /// - Parameters:
  ///   - draft: the draft. Values of the tags `p`, `e`, `a` and `q` have the form of NIP-01, in hexadecimal digits.
  ///   - account: the account that signs.
  ///   - allowSecrets: whether it may contain `nsec1…` or `ncryptsec1…`: an example, a key that was given up.
  /// - Throws: `locked`, `no-such-account`, `bad-request` (several accounts and none named; an obvious mistake; a
  ///   secret key in it), `forbidden` (kind 22242), `rate-limited`.
  public func sign(
    _ draft: EventDraft, as account: String? = nil, allowSecrets: Bool = false
  ) async throws(Refusal) -> Event {
    try await sign(template: draft.template, as: account, allowSecrets)
  }

  /// Signs an event object, in which `pubkey`, `created_at`, `tags`, `content`, `id` and `sig` may be missing. A member
  /// that no event has, or that occurs twice, is refused.
  ///
  /// - Parameters:
  ///   - json: the event object.
  ///   - account: the account that signs: a name, npub or hex; the only account when nil.
  ///   - allowSecrets: whether a secret key in it is intended.
  ///   - timeoutMilliseconds: the time limit; a locked account is waited for during nine tenths of it. 30 seconds when
  ///     nil.
  public func sign(
    json: [UInt8], as account: String? = nil, allowSecrets: Bool = false, timeoutMilliseconds: UInt32? = nil
  ) async throws(Refusal) -> Event {
    // The signer would see only one of two members with the same name.
    if let flaw = JSONFlaw.first(in: json) { throw Refusal(.badRequest, "\(flaw)", outcome: .notStarted) }
    return try await sign(
      template: JSONPayload.decode(JSONValue.self, from: json), as: account, allowSecrets,
      timeoutMilliseconds: timeoutMilliseconds ?? Self.signerMilliseconds)
  }

  private func sign(
    template: JSONValue, as account: String?, _ allowSecrets: Bool, timeoutMilliseconds: UInt32 = signerMilliseconds
  ) async throws(Refusal) -> Event {
    let event = RawJSON(JSONPayload.encode(template))
    let wanted = SignerSign(account: account, event: event, allowSecrets: allowSecrets ? true : nil)
    let options = RequestOptions.idempotent(ttlMilliseconds: timeoutMilliseconds)
    return try Self.signedEvent(try await request(SignerMethod.sign, wanted, options: options).event)
  }

  /// Signs a draft and publishes it: see ``publish(_:to:expiresAfterSeconds:replaces:)``. When the planner refuses
  /// after the signer has signed, nothing was published; a repeated call signs again.
  @discardableResult
  public func publish(
    _ draft: EventDraft, as account: String? = nil, to relays: [RelayURL]? = nil, allowSecrets: Bool = false
  ) async throws(Refusal) -> (event: Event, publication: Publication) {
    let event = try await sign(draft, as: account, allowSecrets: allowSecrets)
    return (event, try await publish(event, to: relays))
  }

  /// Signs a draft and stores it, and sends it to no relay: see ``store(_:)``.
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

  /// Decrypts a text that `peer` encrypted for the account, or the account for `peer`.
  ///
  /// - Throws: `bad-request` when it cannot be decrypted.
  public func decrypt(
    _ payload: String, from peer: PublicKey, as account: String? = nil, by encryption: Encryption = .nip44
  ) async throws(Refusal) -> String {
    let cipher = SignerCipher(account: account, peer: "\(peer)", text: payload)
    let method = encryption == .nip44 ? SignerMethod.nip44Decrypt : SignerMethod.nip04Decrypt
    return try await request(method, cipher, options: Self.signing).text
  }

  /// Seals a draft and wraps it for one recipient (NIP-59). For several recipients, call it once for each, with the
  /// same `createdAt`. The draft is checked as by ``sign(_:as:allowSecrets:)``.
  ///
  /// - Returns: the gift wrap, to send to the recipient's relays.
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
  ///   - account: the recipient's account; nil = the account that its tag `p` names.
  public func unwrap(_ wrap: Event, as account: String? = nil) async throws(Refusal) -> UnwrappedRumor {
    let unwrapped = try await request(
      SignerMethod.unwrap, SignerUnwrap(account: account, wrap: RawJSON(wrap.json)), options: Self.signing)
    let rumor: UnsignedEvent
    do throws(EventFault) { rumor = try UnsignedEvent(json: unwrapped.rumor.bytes) } catch {
      throw Self.signerAnswered("a rumor", "\(error)")
    }
    guard let recipient = PublicKey(unwrapped.recipient) else { throw Self.signerAnswered("a key", "it is not one") }
    return UnwrappedRumor(rumor: rumor, recipient: recipient, warnings: unwrapped.warnings)
  }

  // MARK: Requests

  /// A repeated signing, encryption or opening does no harm.
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
