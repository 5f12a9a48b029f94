import Contracts
import Cryptography
import EventLoop
import Frames
import KeyStore
import Nostr
import Signing

extension SignerService {
  /// Stores a key under another passphrase, or without a passphrase.
  ///
  /// The present passphrase is required even if the key is open: access to an unlocked signer must not be enough to
  /// take a key away from its owner. An open account stays open, and a locked one stays locked, unless it has no
  /// passphrase now and is not left.
  func changePassphrase(_ wanted: SignerPassphrase) async throws(Refusal) -> SignerAccount {
    let name = try machine.resolve(wanted.account).name
    guard let account = accounts[name] else { throw SignerJob.bad("the account '\(name)' is gone") }
    guard account.origin == .file else {
      throw SignerJob.bad("the key of '\(name)' is a credential of the service manager's; change it there")
    }
    let new = try passphrase(wanted.new)
    let key: SecretKey
    let handling: KeyHandling
    switch account.stored.secret {
    case .encrypted(let encrypted):
      guard let present = try passphrase(wanted.present) else {
        throw SignerJob.bad("'present' is missing: the key is under a passphrase")
      }
      key = try await open(encrypted, with: present)
      handling = encrypted.handling
    case .unencrypted(let open):
      key = open
      handling = .insecure
    case .absent: throw SignerMachine.readOnlyRefusal(name)
    }
    guard key.publicKey == account.stored.publicKey else {
      throw Refusal(
        .failed, "the key file of '\(name)' holds another key than it says; the file was changed",
        outcome: .notStarted)
    }
    let stored = StoredKey(
      name: name, publicKey: key.publicKey, createdAt: account.stored.createdAt,
      secret: try await seal(key, new, handling: handling))
    let result = await EventLoopActor.onThreadPool { [directory] in
      Result { () throws(KeyStoreFault) in try directory.replace(stored) }
    }
    if case .failure(let fault) = result {
      throw Refusal(
        .failed, "the key could not be stored again, and its file has the one form or the other: \(fault)",
        outcome: .unknown)
    }
    // The key may have been locked meanwhile, so read its state now.
    accounts[name]?.stored = stored
    if new == nil, accounts[name]?.open == nil, choices.left[key.publicKey] == nil {
      accounts[name]?.open = key
      perform(machine.unlocked(name))
    }
    return try told(name)
  }
}
