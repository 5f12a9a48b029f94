import Bus
import Contracts
import Cryptography
import EventLoop
import Frames
import KeyStore
import Logging
import Nostr
import NostrContracts
import Signing

// Making, unlocking, locking and removing keys. Deriving a key from a passphrase and waiting for the disk are done on
// the thread pool, one operation at a time. During such an operation, only it and `signer.lock` can change the
// accounts.

extension SignerService {
  /// Performs a job that concerns accounts.
  func handle(_ job: SignerJob) async throws(Refusal) -> BusPayload {
    switch job {
    case .accounts:
      await lookAtFiles()
      return BusPayload(json: overview)
    case .own(let role):
      if let account = account(named: role) { return BusPayload(json: account) }
      return try await exclusively { () async throws(Refusal) in
        try await self.generate(SignerGenerate(name: role))
      }
    case .lock(let wanted): return try lock(wanted)
    case .generate(let wanted):
      return try await exclusively { () async throws(Refusal) in try await self.generate(wanted) }
    case .import(let wanted):
      return try await exclusively { () async throws(Refusal) in try await self.takeOver(wanted) }
    case .unlock(let wanted):
      return try await exclusively { () async throws(Refusal) in try await self.unlock(wanted) }
    case .remove(let wanted, let role):
      return try await exclusively { () async throws(Refusal) in try await self.remove(wanted, by: role) }
    case .watch(let wanted):
      return try await exclusively { () async throws(Refusal) in try await self.watch(wanted) }
    case .use(let wanted):
      return try await exclusively { () async throws(Refusal) in try await self.choose(wanted) }
    case .leave(let wanted):
      return try await exclusively { () async throws(Refusal) in try await self.leave(wanted) }
    case .passphrase(let wanted):
      return try await exclusively { () async throws(Refusal) in try await self.changePassphrase(wanted) }
    case .sign, .authenticate, .cipher, .wrap, .unwrap, .open, .dataKey: preconditionFailure("it needs a key")
    }
  }

  private func exclusively(
    _ body: @EventLoopActor () async throws(Refusal) -> SignerAccount
  ) async throws(Refusal) -> BusPayload {
    guard !isHandlingKeys else {
      throw Refusal(
        .unavailable, "another key is being made, opened or stored", outcome: .notStarted, retryAfterMilliseconds: 500)
    }
    isHandlingKeys = true
    keyChangeCount += 1
    defer { isHandlingKeys = false }
    let account = try await body()
    tellStatus()
    await awaitTelling()
    return BusPayload(json: account)
  }

  // MARK: Listing

  var overview: SignerAccounts {
    SignerAccounts(
      accounts: accounts.keys.sorted().compactMap { account(named: $0) }, problems: problems.map(\.sentence),
      refused: machine.refusedKeys, sealingKey: sealingKey.publicKey.description, isMemoryLocked: SecretMemory.isLocked,
      waiting: machine.waitingCount)
  }

  private func account(named name: String) -> SignerAccount? {
    accounts[name].map { account in
      var told = SignerAccount(
        name: name, publicKey: account.stored.publicKey.description, npub: account.stored.publicKey.npub,
        state: account.open == nil ? .locked : .unlocked, isEncrypted: account.stored.isEncrypted,
        origin: account.origin, createdAt: account.stored.createdAt)
      let isForgetting = choices.left[account.stored.publicKey]
      if name == machine.used { told.isUsed = true }
      if isForgetting != nil { told.isLeft = true }
      if isForgetting == true { told.isForgetting = true }
      if account.stored.isReadOnly { told.isReadOnly = true }
      return told
    }
  }

  func told(_ name: String) throws(Refusal) -> SignerAccount {
    guard let account = account(named: name) else { throw Refusal(.noSuchAccount, "the account '\(name)' is gone") }
    return account
  }

  // MARK: Start

  /// Reads the key files. A refused file is reported; the others are used.
  func loadKeys() throws(Refusal) {
    let contents: KeyDirectory.Contents
    do throws(KeyStoreFault) { contents = try directory.load() } catch {
      throw Refusal(error.mayPass ? .unavailable : .failed, "\(error)")
    }
    for key in contents.keys { adopt(key) }
    judged(contents)
  }

  /// Makes an account of a key, unless there is a reason against it. `judged(_:)` reports that reason.
  private func adopt(_ key: StoredKey) {
    guard (machine.refusalOfNew(key.name, key.publicKey) ?? duplicateRefusal(key)) == nil else { return }
    var open: SecretKey?
    if case .unencrypted(let secret) = key.secret { open = secret }
    insert(key, .file, open)
  }

  private func duplicateRefusal(_ key: StoredKey) -> Refusal? {
    accounts[key.name] == nil ? nil : Refusal(.nameTaken, "there is an account of this name already")
  }

  private func insert(_ key: StoredKey, _ origin: SignerAccount.Origin, _ secret: SecretKey?) {
    let isForgetting = choices.left[key.publicKey]
    let open = isForgetting == nil ? secret : nil
    accounts[key.name] = Account(stored: key, origin: origin, open: open)
    let account = SignerMachine.Account(
      name: key.name, publicKey: key.publicKey, isLocked: open == nil, isLeft: isForgetting != nil,
      isForgetting: isForgetting == true, isReadOnly: key.isReadOnly)
    perform(machine.added(account))
  }

  /// Takes the keys and passphrases of the service manager.
  func takeCredentials(_ path: String) async {
    let credentials = Credentials(directory: path)
    for fault in credentials.problems {
      let file = String(fault.path.split(separator: "/").last ?? "")
      let refused = Credentials.account(ofKey: file).map {
        SignerRefusedKey(account: $0, place: "a credential \(file)", reason: fault.reason, remedy: fault.remedy)
      }
      note(credential: KeyProblem(fault, refused: refused))
    }
    for (name, text) in credentials.keys.sorted(by: { $0.key < $1.key }) {
      await takeCredential(name, text, credentials.passphrases[name])
    }
    for (name, passphrase) in credentials.passphrases.sorted(by: { $0.key < $1.key }) {
      guard let account = accounts[name], account.open == nil, choices.left[account.stored.publicKey] == nil else {
        continue
      }
      do throws(Refusal) { try await open(name, with: passphrase) } catch {
        note(credential: "roost.passphrase.\(name)", error)
      }
    }
  }

  private func note(credential file: String, _ refusal: Refusal, missing account: String? = nil) {
    let brief = "\(file): \(refusal.message.prefix { $0 != ";" })"
    let refused = account.map {
      SignerRefusedKey(
        account: $0, place: "a credential \(file)", reason: refusal.message,
        remedy: "give the service manager another, or take it away there")
    }
    note(
      credential: KeyProblem(
        sentence: "the credential \(file): \(refusal.message)", brief: brief, refused: refused))
  }

  private func takeCredential(_ name: String, _ text: SecretText, _ passphrase: Passphrase?) async {
    do throws(Refusal) {
      let (key, encrypted) = try await read(text, passphrase)
      let secret: StoredKey.Secret = encrypted.map { .encrypted($0) } ?? .unencrypted(key)
      let stored = StoredKey(name: name, publicKey: key.publicKey, createdAt: KeyUse.now, secret: secret)
      if let refusal = machine.refusalOfNew(name, key.publicKey) ?? duplicateRefusal(stored) { throw refusal }
      insert(stored, .credential, key)
    } catch {
      note(credential: "roost.key.\(name)", error, missing: name)
    }
  }

  // MARK: Making and importing

  private func generate(_ wanted: SignerGenerate) async throws(Refusal) -> SignerAccount {
    if let refusal = machine.refusalOfNew(wanted.name, nil) ?? refusalOfFile(wanted.name) { throw refusal }
    let passphrase = try passphrase(wanted.passphrase)
    return try await store(wanted.name, SecretKey.generate(), passphrase, handling: .notKnownInsecure)
  }

  private func takeOver(_ wanted: SignerImport) async throws(Refusal) -> SignerAccount {
    let passphrase = try passphrase(wanted.passphrase)
    let text = try wanted.secret.open(by: sealingKey) { bytes throws(Refusal) in
      do throws(SecretTextFault) { return try SecretText(bytes) } catch {
        throw SignerJob.bad("'secret': \(error.description)")
      }
    }
    let (key, encrypted) = try await read(text, passphrase)
    if let refusal = machine.refusalOfNew(wanted.name, key.publicKey) { throw refusal }
    if let present = accounts[wanted.name] {
      if present.stored.isReadOnly {
        return try await complete(wanted.name, key, try await form(of: key, encrypted, passphrase))
      }
      guard present.stored.isEncrypted == (passphrase != nil) else {
        throw Refusal(
          .nameTaken,
          "this key is here already, stored \(present.stored.isEncrypted ? "under a passphrase" : "unencrypted"); "
            + "remove it first to store it otherwise", outcome: .notStarted)
      }
      return try told(wanted.name)
    }
    if let refusal = refusalOfFile(wanted.name) { throw refusal }
    let secret = try await form(of: key, encrypted, passphrase)
    return try await store(wanted.name, key.publicKey, secret, open: key, isLeft: wanted.isLeft == true)
  }

  /// The form in which an imported key is stored: an encrypted one as it came.
  private func form(
    of key: SecretKey, _ encrypted: EncryptedSecretKey?, _ passphrase: Passphrase?
  ) async throws(Refusal) -> StoredKey.Secret {
    if let encrypted { return .encrypted(encrypted) }
    return try await seal(key, passphrase, handling: .untracked)
  }

  /// The key in a text, and its encrypted form if the text has that form.
  private func read(
    _ text: SecretText, _ passphrase: Passphrase?
  ) async throws(Refusal) -> (key: SecretKey, encrypted: EncryptedSecretKey?) {
    switch text {
    case .plain(let key): return (key, nil)
    case .encrypted(let encrypted):
      guard let passphrase else { throw SignerJob.bad("an ncryptsec needs its passphrase") }
      return (try await open(encrypted, with: passphrase), encrypted)
    }
  }

  func passphrase(_ sealed: SealedSecret?) throws(Refusal) -> Passphrase? {
    guard let sealed else { return nil }
    return try sealed.open(by: sealingKey) { bytes throws(Refusal) in
      do throws(PassphraseFault) { return try Passphrase(utf8: bytes) } catch {
        throw SignerJob.bad("'passphrase': \(error)")
      }
    }
  }

  private func store(
    _ name: String, _ key: SecretKey, _ passphrase: Passphrase?, handling: KeyHandling
  ) async throws(Refusal) -> SignerAccount {
    try await store(name, key.publicKey, try await seal(key, passphrase, handling: handling), open: key)
  }

  /// The form in which a key is stored: encrypted if there is a passphrase.
  func seal(
    _ key: SecretKey, _ passphrase: Passphrase?, handling: KeyHandling
  ) async throws(Refusal) -> StoredKey.Secret {
    guard let passphrase else { return .unencrypted(key) }
    let result = await EventLoopActor.onThreadPool { () -> Result<EncryptedSecretKey, NIP49Fault> in
      Result { () throws(NIP49Fault) in try EncryptedSecretKey(encrypting: key, with: passphrase, handling: handling) }
    }
    switch result {
    case .success(let encrypted): return .encrypted(encrypted)
    case .failure(let fault): throw Refusal(.failed, "the key cannot be encrypted: \(fault)", outcome: .notStarted)
    }
  }

  /// Stores a new account's key.
  ///
  /// - Parameters:
  ///   - name: the account's name.
  ///   - key: its public key.
  ///   - secret: what is stored of its secret key.
  ///   - open: its secret key, if the account is open from now on.
  ///   - isLeft: whether the account is left from its first moment on.
  func store(
    _ name: String, _ key: PublicKey, _ secret: StoredKey.Secret, open: SecretKey?, isLeft: Bool = false
  ) async throws(Refusal) -> SignerAccount {
    let stored = StoredKey(name: name, publicKey: key, createdAt: KeyUse.now, secret: secret)
    // What was said of this key before it was removed by hand does not concern the new account. That it is left is
    // written first: after a death in between there is no account that is not left.
    try await change {
      $0.forget(key)
      if isLeft { $0.left[key] = false }
    }
    let result = await EventLoopActor.onThreadPool { [directory] in
      Result { () throws(KeyStoreFault) in try directory.add(stored) }
    }
    if case .failure(let fault) = result {
      if case .exists = fault { throw Refusal(.nameTaken, "\(fault); \(fault.remedy)", outcome: .notStarted) }
      throw Refusal(.failed, "the key cannot be stored: \(fault)", outcome: .unknown)
    }
    insert(stored, .file, open)
    return try told(name)
  }

  // MARK: Unlocking, locking, removing

  private func unlock(_ wanted: SignerUnlock) async throws(Refusal) -> SignerAccount {
    let name = try nameToUnlock(wanted.account)
    guard let account = accounts[name], account.open == nil else { return try told(name) }
    if account.stored.isReadOnly { throw SignerMachine.readOnlyRefusal(name) }
    if case .unencrypted = account.stored.secret {
      // Only a left account is locked without a passphrase.
      try await bringBack(name)
      return try told(name)
    }
    guard let passphrase = try passphrase(wanted.passphrase) else { throw SignerJob.bad("'passphrase' is missing") }
    try await open(name, with: passphrase)
    return try told(name)
  }

  private func nameToUnlock(_ text: String?) throws(Refusal) -> String {
    if let text { return try machine.resolve(text).name }
    let locked = accounts.filter { $0.value.open == nil && !$0.value.stored.isReadOnly }.keys.sorted()
    if locked.count == 1, let only = locked.first { return only }
    guard !locked.isEmpty else { throw SignerJob.bad("no account is locked") }
    throw SignerJob.bad("'account' is missing, and several are locked: \(locked.joined(separator: ", "))")
  }

  private func open(_ name: String, with passphrase: Passphrase) async throws(Refusal) {
    guard let account = accounts[name], case .encrypted(let encrypted) = account.stored.secret else { return }
    let key = try await open(encrypted, with: passphrase)
    guard key.publicKey == account.stored.publicKey else {
      throw Refusal(
        .failed, "the key file of '\(name)' holds another key than it says; the file was changed",
        outcome: .notStarted)
    }
    try await bringBack(name)
    accounts[name]?.open = key
    perform(machine.unlocked(name))
  }

  func open(
    _ encrypted: EncryptedSecretKey, with passphrase: Passphrase
  ) async throws(Refusal) -> SecretKey {
    let result = await EventLoopActor.onThreadPool { () -> Result<SecretKey, NIP49Fault> in
      Result { () throws(NIP49Fault) in try encrypted.open(with: passphrase) }
    }
    switch result {
    case .success(let key): return key
    case .failure(.wrongPassphrase):
      throw Refusal(.wrongPassphrase, "the passphrase is wrong", outcome: .notStarted)
    case .failure(let fault): throw Refusal(.failed, "the key cannot be opened: \(fault)", outcome: .notStarted)
    }
  }

  private func lock(_ wanted: SignerLock) throws(Refusal) -> BusPayload {
    var names = accounts.filter { $0.value.stored.isEncrypted }.map(\.key)
    if let text = wanted.account {
      let name = try machine.resolve(text).name
      if accounts[name]?.stored.isReadOnly == true { throw SignerMachine.readOnlyRefusal(name) }
      guard names.contains(name) else {
        throw SignerJob.bad("the key of '\(name)' is stored without a passphrase; locking it would protect nothing")
      }
      names = [name]
    }
    for name in names {
      accounts[name]?.open = nil
      machine.locked(name)
    }
    return BusPayload(json: overview)
  }

  private func remove(_ wanted: SignerRemove, by role: String) async throws(Refusal) -> SignerAccount {
    let name = try machine.resolve(wanted.name).name
    let account = try told(name)
    guard account.publicKey == wanted.publicKey || account.npub == wanted.publicKey else {
      throw SignerJob.bad("the key of '\(name)' is \(account.npub), and another one was named; nothing is removed")
    }
    if let refusal = machine.refusalOfRemoval(name, by: role) { throw refusal }
    guard account.origin == .file else {
      throw SignerJob.bad("the key of '\(name)' is a credential of the service manager's; remove it there")
    }
    let result = await EventLoopActor.onThreadPool { [directory] in
      Result { () throws(KeyStoreFault) in try directory.remove(name) }
    }
    if case .failure(let fault) = result {
      throw Refusal(.failed, "the key cannot be removed: \(fault)", outcome: .unknown)
    }
    accounts[name] = nil
    perform(machine.removed(name))
    // After the key: without it, what is said of the account means nothing.
    if let key = PublicKey(account.publicKey) { try await change { $0.forget(key) } }
    return account
  }
}
