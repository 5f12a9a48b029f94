internal import Frames

/// The methods of the role `signer`.
public enum SignerMethod {
  /// Signs an event.
  public static let sign = Method<SignerSign, SignerSigned>(
    640, "signer.sign", of: .signer, for: [.client, .outboxPlanner, .dvmTracker, .dvmProvider, .people, .linkFeed],
    "Signs an event.", refuses: [.locked, .noSuchAccount, .forbidden, .rateLimited])
  /// Signs the answer to a relay's challenge (NIP-42).
  public static let authenticate = Method<SignerAuthenticate, SignerSigned>(
    641, "signer.authenticate", of: .signer, for: [.relayConnector],
    "Signs the answer to a relay's challenge (NIP-42).", refuses: [.locked, .noSuchAccount, .forbidden, .rateLimited])
  /// Encrypts a text (NIP-04).
  public static let nip04Encrypt = Method<SignerCipher, SignerText>(
    642, "signer.nip04.encrypt", of: .signer, for: [.client, .dvmTracker, .dvmProvider, .linkFeed],
    "Encrypts a text (NIP-04).", refuses: [.locked, .noSuchAccount, .forbidden, .rateLimited])
  /// Decrypts a text (NIP-04).
  public static let nip04Decrypt = Method<SignerCipher, SignerText>(
    643, "signer.nip04.decrypt", of: .signer,
    for: [.client, .outboxPlanner, .dvmTracker, .dvmProvider, .people, .linkFeed],
    "Decrypts a text (NIP-04).", refuses: [.locked, .noSuchAccount, .forbidden, .rateLimited])
  /// Encrypts a text (NIP-44).
  public static let nip44Encrypt = Method<SignerCipher, SignerText>(
    644, "signer.nip44.encrypt", of: .signer, for: [.client, .dvmTracker, .dvmProvider, .people, .linkFeed],
    "Encrypts a text (NIP-44).", refuses: [.locked, .noSuchAccount, .forbidden, .rateLimited])
  /// Decrypts a text (NIP-44).
  public static let nip44Decrypt = Method<SignerCipher, SignerText>(
    645, "signer.nip44.decrypt", of: .signer,
    for: [.client, .outboxPlanner, .dvmTracker, .dvmProvider, .people, .linkFeed],
    "Decrypts a text (NIP-44).", refuses: [.locked, .noSuchAccount, .forbidden, .rateLimited])
  /// Seals a rumor and wraps it for one recipient (NIP-59).
  public static let wrap = Method<SignerWrap, SignerWrapped>(
    646, "signer.wrap", of: .signer, for: [.client, .linkFeed],
    "Seals a rumor and wraps it for one recipient (NIP-59).",
    refuses: [.locked, .noSuchAccount, .forbidden, .rateLimited])
  /// Opens a gift wrap, with all checks of NIP-59.
  public static let unwrap = Method<SignerUnwrap, SignerUnwrapped>(
    647, "signer.unwrap", of: .signer, for: [.client],
    "Opens a gift wrap, with all checks of NIP-59.", refuses: [.locked, .noSuchAccount, .forbidden, .rateLimited])
  /// The accounts, without any secret, and the key to seal secrets to.
  public static let accounts = Method<NoArguments, SignerAccounts>(
    648, "signer.accounts", of: .signer,
    for: [
      .client, .relayConnector, .outboxPlanner, .dvmTracker, .dvmProvider, .pushRelay, .localRelay, .mirror,
      .people, .linkFeed,
    ],
    "The accounts, without anything secret, and the key to seal secrets to.")
  /// Makes a new key. A repeated call makes a second key.
  public static let generate = Method<SignerGenerate, SignerAccount>(
    649, "signer.generate", of: .signer, for: [.client],
    "Makes a new key. Doing it twice makes two keys.", refuses: [.sealedForAnother])
  /// Stores a key that was made elsewhere.
  public static let `import` = Method<SignerImport, SignerAccount>(
    650, "signer.import", of: .signer, for: [.client],
    "Stores a key that was made elsewhere.", refuses: [.wrongPassphrase, .sealedForAnother])
  /// Unlocks an account with its passphrase.
  public static let unlock = Method<SignerUnlock, SignerAccount>(
    651, "signer.unlock", of: .signer, for: [.client],
    "Unlocks an account with its passphrase.",
    refuses: [.noSuchAccount, .wrongPassphrase, .sealedForAnother, .rateLimited])
  /// Forgets keys until their passphrases are given again.
  public static let lock = Method<SignerLock, SignerAccounts>(
    652, "signer.lock", of: .signer, for: [.client],
    "Forgets keys until their passphrases are given again.", refuses: [.noSuchAccount])
  /// Deletes a stored key permanently.
  public static let remove = Method<SignerRemove, SignerAccount>(
    653, "signer.remove", of: .signer, for: [.client, .people],
    "Deletes a stored key for good.", refuses: [.noSuchAccount, .forbidden])
  /// Stores a key under another passphrase.
  public static let passphrase = Method<SignerPassphrase, SignerAccount>(
    654, "signer.passphrase", of: .signer, for: [.client],
    "Stores a key under another passphrase.", refuses: [.noSuchAccount, .wrongPassphrase, .sealedForAnother])
  /// The account of the caller's role, which the signer makes if it does not exist.
  public static let own = Method<NoArguments, SignerAccount>(
    655, "signer.own", of: .signer, for: [.dvmTracker, .dvmProvider],
    "The account of the caller's role, which is made if it is not there.")
  /// Names the account that is meant where none is named.
  public static let use = Method<SignerChoose, SignerAccount>(
    656, "signer.use", of: .signer, for: [.client],
    "From now on this account is meant where none is named.", refuses: [.noSuchAccount])
  /// Locks an account, and ends what is asked for it.
  public static let leave = Method<SignerLeave, SignerAccount>(
    657, "signer.leave", of: .signer, for: [.client],
    "Locks an account and ends what is asked of relays for it, until it is used or unlocked. Everything is kept.",
    refuses: [.noSuchAccount])
  /// Makes or opens the data key of an account and the caller's role.
  public static let dataKey = Method<SignerDataKeyRequest, SignerDataKey>(
    658, "signer.data-key", of: .signer, for: [.people, .linkFeed],
    "The key under which the caller's role seals what it stores for an account: made, or opened from its text.",
    refuses: [.locked, .noSuchAccount, .forbidden, .rateLimited])

  /// Adds an account of which only the public key is here.
  public static let watch = Method<SignerWatch, SignerAccount>(
    659, "signer.watch", of: .signer, for: [.client],
    "Adds an account of which only the public key is here, to read along.")
  /// Opens a run of gift wraps, with all checks of NIP-59. A locked account refuses it at once: nothing is held.
  public static let open = Method<WrapRunBytes, WrapOutcomesBytes>(
    660, "signer.open", of: .signer, for: [.linkFeed],
    "Opens up to 256 gift wraps of one account, with all checks of NIP-59: an outcome for each, in their order.",
    refuses: [.locked, .noSuchAccount, .forbidden, .rateLimited, .full])

  static let all: [MethodDeclaration] = [
    sign.declaration, authenticate.declaration, nip04Encrypt.declaration, nip04Decrypt.declaration,
    nip44Encrypt.declaration, nip44Decrypt.declaration, wrap.declaration, unwrap.declaration, accounts.declaration,
    generate.declaration, `import`.declaration, unlock.declaration, lock.declaration, remove.declaration,
    passphrase.declaration, own.declaration, use.declaration, leave.declaration, dataKey.declaration,
    watch.declaration, open.declaration, SignerTopic.changes.declaration,
  ]
}

/// The topics of the role `signer`.
public enum SignerTopic {
  /// All accounts, whenever one is added, removed, locked, unlocked, left or chosen.
  public static let changes = Topic<SignerChanges>(
    672, "signer.changes", of: .signer,
    for: [.client, .outboxPlanner, .localRelay, .dvmTracker, .dvmProvider, .pushRelay, .mirror, .people, .linkFeed],
    "All accounts, whenever one has come or gone, or been locked, unlocked, left or chosen.")
}

extension SignerSigned: Payload {}
extension SignerText: Payload {}
extension SignerWrapped: Payload {}
extension SignerUnwrapped: Payload {}
extension SignerAccounts: Payload {}
extension SignerAccount: Payload {}
extension SignerChanges: Payload {}
extension SignerDataKey: Payload {}
