internal import Bus
internal import Contracts
internal import Cryptography
internal import EventLoop
internal import Frames
internal import Glibc
internal import Nostr
internal import NostrContracts
internal import RoostClient
internal import Rendering

// What the commands of `roost key` share: the signer's accounts, and the way of secrets to the signer.

extension CommandSession {
  /// How long making, opening or storing a key may take: deriving a key from a passphrase takes up to ten seconds.
  static let keyMilliseconds: UInt32 = 60_000

  /// The accounts, and the key that secrets are encrypted to.
  func accounts() async throws(Refusal) -> SignerAccounts {
    try await client.connect()
    return try await waiting(for: SignerMethod.accounts.declaration) { () async throws(Refusal) in
      try await client.request(
        SignerMethod.accounts, NoArguments(), options: .idempotent(ttlMilliseconds: Timeout.reading.milliseconds))
    }
  }

  /// Prints the accounts; `failed` if a key file is refused.
  func listAccounts() async throws(Refusal) -> ExitStatus {
    let accounts = try await accounts()
    await print(accounts, AccountText.list(accounts, style))
    return accounts.problems.isEmpty ? .done : .failed
  }

  /// The account with this name, `npub` or hexadecimal key. Without a text: the one of `roost account use`, or else the
  /// only account that is not left, of those that satisfy `isMeant`; if no key is refused, because the refused key
  /// could be meant as well.
  func account(
    _ text: String?, among all: SignerAccounts, isMeant: (SignerAccount) -> Bool = { _ in true }
  ) throws(Refusal) -> SignerAccount {
    let accounts = all.accounts
    let own = accounts.filter { !$0.isOfWorker }
    if let text {
      let key = text.hasPrefix("nostr:") ? String(text.dropFirst(6)) : text
      if let account = accounts.first(where: { [$0.name, $0.npub, $0.publicKey].contains(key) }) { return account }
      if let refused = all.refused.first(named: key) {
        throw Refusal(.noSuchAccount, "there is no account '\(key)'; \(refused.sentence)", outcome: .notStarted)
      }
      let near = NearestName.find(text, among: accounts.map(\.name)).map { "; did you mean '\($0)'?" } ?? ""
      let none = own.isEmpty ? Self.noAccountYet : "there is no such account\(near)"
      throw Refusal(.noSuchAccount, none, outcome: .notStarted)
    }
    var meant = own.filter(isMeant)
    if let used = meant.first(where: { $0.isUsed == true }) { return used }
    // What is left is meant only where nothing else could be.
    if !meant.present.isEmpty { meant = meant.present }
    if meant.count == 1 {
      guard let refused = all.refused.first else { return meant[0] }
      throw Refusal(
        .badRequest, "name the account, as in --as \(meant[0].name): \(refused.sentence)", outcome: .notStarted)
    }
    guard !meant.isEmpty else {
      let none = all.refused.first.map { "there is no account; \($0.sentence)" }
      let text = own.isEmpty ? none ?? Self.noAccountYet : "no account is locked"
      throw Refusal(.noSuchAccount, text, outcome: .notStarted)
    }
    let names = meant.map(\.name).joined(separator: ", ")
    throw Refusal(
      .badRequest,
      "name the account, as in --as \(meant[0].name); there are \(names); 'roost account use NAME' says which is meant "
        + "from now on", outcome: .notStarted)
  }

  /// The public key of one of the signer's accounts.
  func key(of account: SignerAccount) throws(Refusal) -> PublicKey {
    guard let key = PublicKey(account.publicKey) else {
      throw Refusal(.badPayload, "'\(account.publicKey)' is no key")
    }
    return key
  }

  private static let noAccountYet = "there is no account yet; \(AccountText.advice)"

  /// Reads a secret and seals it at once; wipes what was typed.
  ///
  /// - Returns: nil if the input has ended or the line is empty.
  func sealed(_ prompt: String, for sealingKey: String) throws(Refusal) -> SealedSecret? {
    guard var line = try readSecret(prompt) else { return nil }
    defer { line.wipe() }
    guard !line.isEmpty else { return nil }
    return try Self.seal(line, for: sealingKey)
  }

  /// Reads a secret key, looks at its form, and seals it at once; wipes what was typed.
  ///
  /// - Returns: nil if the input has ended or the line is empty.
  /// - Throws: `bad-request` for what is no secret key; nothing of it is repeated.
  func typedKey(_ prompt: String, for sealingKey: String) throws(Refusal) -> TypedKey? {
    guard var line = try readSecret(prompt) else { return nil }
    defer { line.wipe() }
    guard !line.isEmpty else { return nil }
    let isEncrypted: Bool
    switch TypedKey.form(of: line) {
    case .success(let found): isEncrypted = found
    case .failure(let refusal): throw refusal
    }
    return TypedKey(sealed: try Self.seal(line, for: sealingKey), isEncrypted: isEncrypted)
  }

  /// Reads a new passphrase, twice on a terminal, and seals it.
  func sealedNewPassphrase(
    _ prompt: String = "Passphrase: ", for sealingKey: String
  ) throws(Refusal) -> SealedSecret {
    guard var first = try readSecret(prompt) else { throw Self.passphraseMissing }
    defer { first.wipe() }
    guard !first.isEmpty else { throw Self.passphraseMissing }
    if SecretInput.isTerminal {
      var second = try readSecret("The same again: ") ?? []
      defer { second.wipe() }
      guard first == second else {
        throw Refusal(.badRequest, "the two passphrases differ; nothing was done", outcome: .notStarted)
      }
    }
    return try Self.seal(first, for: sealingKey)
  }

  static var passphraseMissing: Refusal {
    Refusal(
      .badRequest,
      "no passphrase was given (on the terminal, or as a line of standard input); --no-passphrase stores the key as it is",
      outcome: .notStarted)
  }

  private func readSecret(_ prompt: String) throws(Refusal) -> [UInt8]? {
    do throws(Refusal) { return try SecretInput.readLine(prompt) } catch {
      if error.code == "interrupted" { leave(.interrupted) }
      throw error
    }
  }

  private static func seal(_ secret: [UInt8], for sealingKey: String) throws(Refusal) -> SealedSecret {
    let result = secret.withUnsafeBytes { bytes -> Result<SealedSecret, Refusal> in
      Result { () throws(Refusal) in try SealedSecret.seal(bytes, for: sealingKey) }
    }
    return try result.get()
  }

  /// Changes one account, and prints it.
  func change<Arguments>(
    _ method: Method<Arguments, SignerAccount>, _ arguments: Arguments, verb: String
  ) async throws(Refusal) -> ExitStatus {
    // After the worker's death, a second delivery would make a second key, or try a passphrase again.
    let options = RequestOptions(ttlMilliseconds: Self.keyMilliseconds, atMostOnce: true)
    let account = try await client.request(method, arguments, options: options)
    await print(account, AccountText.changed(account, verb, style))
    return .done
  }
}

/// A secret key that was typed, on its way to the signer.
struct TypedKey {
  let sealed: SealedSecret
  /// Whether it is an ncryptsec (NIP-49), which has a passphrase of its own.
  let isEncrypted: Bool

  /// Whether a line is an ncryptsec, or why it is no secret key. The signer looks closer; this is for the person who
  /// has typed it, before a passphrase is asked for.
  static func form(of line: [UInt8]) -> Result<Bool, Refusal> {
    func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }
    guard let first = line.firstIndex(where: { !isSpace($0) }), let last = line.lastIndex(where: { !isSpace($0) })
    else {
      return .failure(Refusal(.badRequest, "that is an empty line", outcome: .notStarted))
    }
    // A slice of the same memory: a copy would not be wiped.
    let line = line[first...last]
    func begins(_ prefix: StaticString) -> Bool {
      line.count >= prefix.utf8CodeUnitCount
        && (0..<prefix.utf8CodeUnitCount).allSatisfy { line[first + $0] | 0x20 == prefix.utf8Start[$0] | 0x20 }
    }
    func fault(_ text: String) -> Result<Bool, Refusal> {
      .failure(Refusal(.badRequest, text, outcome: .notStarted))
    }
    if begins("npub1") { return fault("that is a public key; a secret one begins with nsec1 or ncryptsec1") }
    if begins("ncryptsec1") { return .success(true) }
    if begins("nsec1") {
      let isKey = line.withUnsafeBytes { bytes in
        // `try?`: only whether it can be read matters here; the key itself is wiped at once.
        (try? SecretKey.read(nsec: bytes)) != nil
      }
      return isKey ? .success(false) : fault("that is no nsec: a character is wrong or missing")
    }
    let isHexadecimal = line.allSatisfy { byte in
      (0x30...0x39).contains(byte) || (0x41...0x46).contains(byte) || (0x61...0x66).contains(byte)
    }
    if line.count == 2 * SecretKey.byteCount, isHexadecimal { return .success(false) }
    return fault("that is no secret key: neither nsec1…, ncryptsec1… nor 64 hexadecimal digits")
  }
}
