internal import Contracts
internal import Cryptography
internal import EventLoop
internal import Frames
internal import Nostr
internal import RoostClient

// A person as people type one. Wherever a command takes a key, it takes a name (NIP-05) too, which is looked up here
// and nowhere else. What is typed is meant, so the server of the name is asked.

/// What may be typed for a key.
enum KeyArgument {
  /// Whether a text is `name@domain`.
  static func isName(_ text: String) -> Bool { text.contains("@") && InternetIdentifier(text) != nil }

  /// Whether a text is meant as an entity of NIP-19, and not as an account's name.
  static func looksLikeEntity(_ text: String) -> Bool {
    ["npub1", "nprofile1", "nostr:", "note1", "nevent1"].contains { text.hasPrefix($0) }
  }

  /// Whether a value of a tag is a name for a key.
  static func isName(_ text: String, for reference: TagReference) -> Bool { reference == .key && isName(text) }

  /// The text, or a key in place of a name: to check what was typed before anything is looked up.
  static func masked(_ text: String) -> String { isName(text) ? String(repeating: "0", count: 64) : text }
}

extension CommandSession {
  /// The key that the user names: `npub`, `nprofile`, 64 hexadecimal digits, the name of one of the signer's accounts,
  /// or `name@domain` (NIP-05), whose server is asked.
  func publicKey(_ text: String) async throws(Refusal) -> PublicKey {
    let fault: EntityFault
    do throws(EntityFault) { return try PublicKey(spelled: text) } catch { fault = error }
    if case .secret = fault {
      throw Refusal(
        .badRequest, "that is a secret key, and it is now in your shell's history; remove it there",
        outcome: .notStarted)
    }
    if text.contains("@") { return try await named(text) }
    // A broken entity is not an account's name. `try?`: without a signer, the refusal is about the key and not the
    // signer.
    let looksLikeEntity = KeyArgument.looksLikeEntity(text)
    if !looksLikeEntity, let accounts = try? await client.accounts(),
      let account = accounts.first(where: { $0.name == text }), let key = PublicKey(account.publicKey)
    {
      return key
    }
    throw Refusal(
      .badRequest,
      looksLikeEntity
        ? "'\(text)' is no key: \(fault)"
        : "'\(text)' is no key (npub1…, nprofile1…, 64 hexadecimal digits), no name (bob@example.com) and no account",
      outcome: .notStarted)
  }

  /// A typed key, in hexadecimal digits if it is a name; any other text as it is.
  func withoutName(_ text: String) async throws(Refusal) -> String {
    KeyArgument.isName(text) ? try await named(text).description : text
  }

  /// The same for what need not be typed.
  func withoutName(_ text: String?) async throws(Refusal) -> String? {
    guard let text else { return nil }
    return try await withoutName(text)
  }

  /// The values of a typed tag, with the key in place of a name.
  func tag(_ text: String) async throws(Refusal) -> [String] {
    var tag = try TagArgument.read(text)
    if tag.count > 1 { tag[1] = try await tagValue(tag[1], ofTag: tag[0]) }
    return tag
  }

  /// The value of a tag, with the key in place of a name.
  func tagValue(_ text: String, ofTag name: String) async throws(Refusal) -> String {
    guard let reference = TagReference(tagName: name), KeyArgument.isName(text, for: reference) else { return text }
    return try await named(text).description
  }

  /// The key that a name leads to.
  private func named(_ text: String) async throws(Refusal) -> PublicKey { try await resolved(text).key }

  /// The key that a name leads to, and the relays that its server gives.
  func resolved(_ text: String) async throws(Refusal) -> (key: PublicKey, relays: [String]) {
    guard InternetIdentifier(text) != nil else {
      throw Refusal(
        .badRequest, "'\(text)' is no name: a name is letters, digits, '-', '_' and '.', then @ and a domain",
        outcome: .notStarted)
    }
    let found: ResolvedName
    do throws(Refusal) {
      found = try await client.request(RelayMethod.resolveName, NameResolve(name: text))
    } catch {
      throw Self.explained(error, text)
    }
    guard let key = PublicKey(found.pubkey) else { throw Refusal(.badPayload, "'\(found.pubkey)' is no key") }
    return (key, found.relays)
  }

  /// Why a name was not looked up, and what to type instead.
  private static func explained(_ refusal: Refusal, _ name: String) -> Refusal {
    var refusal = refusal
    switch refusal.code {
    case .noSuchName: refusal.message += "\nAsk the person for an npub, and type that."
    case .nameUnreachable, "timed-out": refusal.message += "\nTry again later, or type the person's npub."
    case .unknownMethod, .gone:
      refusal.message =
        "'\(name)' is a name, and no relay-connector runs that could look it up"
        + "\nType the person's npub, or start one: 'roost status' shows the workers."
    case .unavailable: refusal.message += "\nUntil then type the person's npub."
    default: break
    }
    return refusal
  }
}
