import Addresses
import Bus
import Contracts
import Cryptography
import Frames
import Glibc
import LinuxSystem
import Nostr
import NostrContracts
import Signing

// The operations with an open key. Each takes some microseconds to a few milliseconds, on the event loop.

/// The uses of one key.
struct KeyUse {
  let key: SecretKey
  /// Most bytes of an event: a larger one could not be sent anywhere.
  let eventByteCountMaximum: Int

  /// Performs a job that needs a key.
  func perform(_ job: SignerJob, _ method: SignerOperation) throws(Refusal) -> BusPayload {
    switch job {
    case .sign(let draft):
      let event = try draft.event(of: key.publicKey, now: Self.now).signed(by: key)
      return BusPayload(json: SignerSigned(event: RawJSON(try taken(event))))
    case .authenticate(let relay, let challenge): return try authenticate(relay, challenge)
    case .cipher(let peer, let text):
      return BusPayload(json: SignerText(text: try cipher(method, peer, text)))
    case .wrap(let draft, let wanted, let recipient): return try wrap(draft, wanted, recipient)
    case .unwrap(let event): return try unwrap(event)
    case .dataKey(let wanted, let role): return try DataKeyText(role: role).answer(wanted, by: key)
    case .open: preconditionFailure("a run is opened on other threads")
    case .accounts, .own, .generate, .import, .unlock, .lock, .remove, .passphrase, .use, .leave, .watch:
      preconditionFailure("\(method.name) needs no key")
    }
  }

  /// The JSON of an event. Throws when it is larger than `eventByteCountMaximum`.
  private func taken(_ event: Event) throws(Refusal) -> [UInt8] {
    let json = event.json
    guard json.count > eventByteCountMaximum else { return json }
    throw SignerJob.bad(
      "\(EventFault.tooLarge(byteCount: json.count, maximum: eventByteCountMaximum)): nothing was signed")
  }

  private func authenticate(_ relay: RelayURL, _ challenge: String) throws(Refusal) -> BusPayload {
    do throws(RelayAuthenticationFault) {
      let event = try RelayAuthentication.template(
        for: relay, challenge: challenge, by: key.publicKey, createdAt: Self.now)
      return BusPayload(json: SignerSigned(event: RawJSON(event.signed(by: key).json)))
    } catch {
      throw SignerJob.bad("'challenge': \(error)")
    }
  }

  private func cipher(_ method: SignerOperation, _ peer: PublicKey, _ text: String) throws(Refusal) -> String {
    do {
      switch method {
      case .nip04Encrypt: return try NIP04.encrypt(text, by: key, for: peer)
      case .nip04Decrypt: return try NIP04.decrypt(text, by: key, from: peer)
      case .nip44Encrypt: return try NIP44.encrypt(text, with: ConversationKey(key, peer))
      default: return try NIP44.decryptText(text, with: ConversationKey(key, peer))
      }
    } catch {
      throw SignerJob.bad("'text': \(error)")
    }
  }

  private func wrap(_ draft: Draft, _ wanted: SignerWrap, _ recipient: PublicKey) throws(Refusal) -> BusPayload {
    let rumor = try draft.event(of: key.publicKey, now: Self.now)
    let hint: String?
    do throws(RelayURLFault) {
      hint = try wanted.relayHint.map { text throws(RelayURLFault) in try RelayURL(text).text }
    } catch {
      throw SignerJob.bad("'relayHint': \(error)")
    }
    guard wanted.expiration.map({ $0 >= 0 }) ?? true else { throw SignerJob.bad("'expiration' is before 1970") }
    var random = SystemRandomNumberGenerator()
    do throws(GiftWrapFault) {
      let now = Self.now
      let seal = try Seal(
        rumor, for: recipient, by: key, now: now, expiration: wanted.expiration, using: &random)
      let wrap = try GiftWrap(
        seal, for: recipient, now: now, relayHint: hint, expiration: wanted.expiration,
        isEphemeral: wanted.isEphemeral ?? false, using: &random)
      return BusPayload(json: SignerWrapped(wrap: RawJSON(wrap.event.json), rumor: RawJSON(rumor.json)))
    } catch {
      throw SignerJob.bad("'rumor': \(error)")
    }
  }

  private func unwrap(_ event: Event) throws(Refusal) -> BusPayload {
    do throws(GiftWrapFault) {
      let rumor = try GiftWrap(event).open(by: key)
      return BusPayload(
        json: SignerUnwrapped(
          recipient: key.publicKey.description, author: rumor.author.description, rumor: RawJSON(rumor.event.json),
          warnings: rumor.warnings.map(\.description)))
    } catch {
      throw SignerJob.bad("'wrap': \(error)")
    }
  }

  /// Seconds since 1970.
  static var now: Int64 { WallClock.seconds }
}
