import Addresses
import Bus
import Contracts
import Cryptography
import EventLoop
import Frames
import Nostr
import NostrContracts
import Signing
import WorkerKit

/// A request that was read: what to do. Whether it is permitted is decided elsewhere.
enum SignerJob {
  case sign(Draft)
  case authenticate(RelayURL, challenge: String)
  case cipher(peer: PublicKey, text: String)
  case wrap(Draft, SignerWrap, recipient: PublicKey)
  case unwrap(Event)
  case open(WrapRun)
  case accounts
  case own(role: String)
  case generate(SignerGenerate)
  case `import`(SignerImport)
  case unlock(SignerUnlock)
  case lock(SignerLock)
  case remove(SignerRemove, role: String)
  case passphrase(SignerPassphrase)
  case use(SignerChoose)
  case leave(SignerLeave)
  case dataKey(SignerDataKeyRequest, role: String)
  case watch(SignerWatch)
}

@EventLoopActor
extension SignerJob {
  /// Reads a request.
  ///
  /// - Returns: the job, and the data for the decision about it.
  static func read(
    _ method: SignerOperation, _ request: BusRequest, from caller: SignerCaller
  ) throws(Refusal) -> (job: SignerJob, use: SignerUse) {
    var use = SignerUse(
      method: method, caller: caller, byteCount: request.payload.bytes.count, ttlMilliseconds: request.ttlMilliseconds)
    let job: SignerJob =
      switch method {
      case .sign: try sign(request, &use)
      case .authenticate: try authenticate(request, &use)
      case .nip04Encrypt, .nip04Decrypt, .nip44Encrypt, .nip44Decrypt: try cipher(request, &use)
      case .wrap: try wrap(request, &use)
      case .unwrap: try unwrap(request, &use)
      case .open: try open(request, &use)
      case .accounts: try accounts(request)
      case .own: try own(request, caller)
      case .generate: .generate(try named(request, &use, \.name))
      case .import: .import(try named(request, &use, \.name))
      case .unlock: .unlock(try named(request, &use, \.account))
      case .lock: .lock(try named(request, &use, \.account))
      case .remove: .remove(try named(request, &use, \.name), role: caller.role)
      case .passphrase: .passphrase(try named(request, &use, \.account))
      case .use: .use(try named(request, &use, \.account))
      case .leave: .leave(try named(request, &use, \.account))
      case .watch: .watch(try named(request, &use, \.name))
      case .dataKey: .dataKey(try named(request, &use, \.account), role: caller.role)
      }
    return (job, use)
  }

  private static func accounts(_ request: BusRequest) throws(Refusal) -> SignerJob {
    _ = try request.arguments(as: NoArguments.self)
    return .accounts
  }

  private static func own(_ request: BusRequest, _ caller: SignerCaller) throws(Refusal) -> SignerJob {
    _ = try request.arguments(as: NoArguments.self)
    // The configuration may permit all of `signer.*` to a custom role.
    guard Role.withAccount.contains(where: { $0.name == caller.role }) else {
      throw Refusal(.forbidden, "the role \(caller.role) has no account of its own", outcome: .notStarted)
    }
    return .own(role: caller.role)
  }

  private static func named<Value: MethodArguments>(
    _ request: BusRequest, _ use: inout SignerUse, _ name: KeyPath<Value, String>
  ) throws(Refusal) -> Value {
    let value = try request.arguments(as: Value.self)
    use.account = value[keyPath: name]
    return value
  }

  private static func named<Value: MethodArguments>(
    _ request: BusRequest, _ use: inout SignerUse, _ name: KeyPath<Value, String?>
  ) throws(Refusal) -> Value {
    let value = try request.arguments(as: Value.self)
    use.account = value[keyPath: name]
    return value
  }

  private static func sign(_ request: BusRequest, _ use: inout SignerUse) throws(Refusal) -> SignerJob {
    let wanted = try request.arguments(as: SignerSign.self)
    use.account = wanted.account
    let draft = try Draft(
      json: wanted.event.bytes, named: "event", allowsSecrets: wanted.allowSecrets ?? false,
      checksTags: use.caller.role != Role.people.name, now: KeyUse.now)
    use.kind = draft.kind
    if draft.kind == EventKind.deletion {
      var shown: [Event] = []
      for (index, event) in (wanted.deleted ?? []).enumerated() {
        shown.append(try verified(event, "deleted[\(index)]"))
      }
      use.deletedKinds = draft.deletedKinds(shown: shown)
    }
    return .sign(draft)
  }

  private static func authenticate(_ request: BusRequest, _ use: inout SignerUse) throws(Refusal) -> SignerJob {
    let wanted = try request.arguments(as: SignerAuthenticate.self)
    use.account = wanted.account
    use.kind = SigningPolicy.authenticationKind
    let relay: RelayURL
    do throws(RelayURLFault) { relay = try RelayURL(wanted.relay) } catch { throw bad("'relay': \(error)") }
    guard relay.text == wanted.relay else {
      throw bad("'relay' is not in its canonical spelling, which is \(relay.text)")
    }
    let byteCountMaximum = RelayAuthentication.challengeByteCountMaximum
    guard (1...byteCountMaximum).contains(wanted.challenge.utf8.count) else {
      throw bad("'challenge' must have 1 to \(byteCountMaximum) bytes")
    }
    use.relay = relay.text
    return .authenticate(relay, challenge: wanted.challenge)
  }

  private static func cipher(_ request: BusRequest, _ use: inout SignerUse) throws(Refusal) -> SignerJob {
    let wanted = try request.arguments(as: SignerCipher.self)
    use.account = wanted.account
    let peer = try publicKey(wanted.peer, "peer")
    use.peer = peer
    guard let shown = wanted.event else { return .cipher(peer: peer, text: wanted.text ?? "") }
    guard use.method == .nip04Decrypt || use.method == .nip44Decrypt else {
      throw bad("'event' is for decrypting; what is to be encrypted is 'text'")
    }
    guard wanted.text == nil else { throw bad("'text' and 'event' are given; the text is the event's content") }
    let event = try verified(shown, "event")
    // An event by another author is encrypted for another key, and decryption would only fail; this gives the reason.
    // An account's own direct message is encrypted for the peer that its tag names; whether it is the account's is
    // decided when the account is known.
    let isSent = event.kind == EventKind.encryptedDirectMessage && event.firstValue(of: "p") == peer.description
    guard event.pubkey == peer || isSent else { throw bad("'event' is of \(event.pubkey), and not of 'peer'") }
    use.contentKind = event.kind
    use.contentAuthor = event.pubkey
    return .cipher(peer: peer, text: event.content)
  }

  /// An event that a caller shows, with its id and signature verified.
  private static func verified(_ value: JSONValue, _ name: String) throws(Refusal) -> Event {
    do throws(EventFault) {
      let event = try Event(json: JSONPayload.encode(value))
      try event.verify()
      return event
    } catch { throw bad("'\(name)': \(error)") }
  }

  private static func wrap(_ request: BusRequest, _ use: inout SignerUse) throws(Refusal) -> SignerJob {
    let wanted = try request.arguments(as: SignerWrap.self)
    use.account = wanted.account
    let draft = try Draft(
      json: JSONPayload.encode(wanted.rumor), named: "rumor", allowsSecrets: wanted.allowSecrets ?? false,
      now: KeyUse.now)
    use.kind = draft.kind
    return .wrap(draft, wanted, recipient: try publicKey(wanted.recipient, "recipient"))
  }

  private static func unwrap(_ request: BusRequest, _ use: inout SignerUse) throws(Refusal) -> SignerJob {
    let wanted = try request.arguments(as: SignerUnwrap.self)
    use.account = wanted.account
    let event: Event
    do throws(EventFault) { event = try Event(json: wanted.wrap.bytes) } catch {
      throw bad("'wrap': \(error)")
    }
    use.kind = event.kind
    use.candidates = event.values(of: "p").prefix(candidateMaximum).compactMap { PublicKey($0) }
    return .unwrap(event)
  }

  private static func open(_ request: BusRequest, _ use: inout SignerUse) throws(Refusal) -> SignerJob {
    let wanted: WrapRunBytes = try request.payload.read(of: request.method)
    guard wanted.isRaw else {
      throw Refusal(.badPayload, "a run of gift wraps is RAW", outcome: .notStarted)
    }
    let run: WrapRun
    do throws(WrapRun.Problem) { run = try WrapRun.decode(wanted.bytes) } catch { throw bad("\(error)") }
    use.account = run.account.description
    use.wrapCount = run.wraps.count
    return .open(run)
  }

  /// Most recipients of a gift wrap that are read.
  private static let candidateMaximum = 16

  // MARK: Parts

  private static func publicKey(_ text: String, _ name: String) throws(Refusal) -> PublicKey {
    do throws(EntityFault) { return try PublicKey(spelled: text) } catch {
      throw bad("'\(name)' is not a public key: \(error)")
    }
  }

  nonisolated static func bad(_ message: String) -> Refusal { Refusal(.badRequest, message, outcome: .notStarted) }
}
