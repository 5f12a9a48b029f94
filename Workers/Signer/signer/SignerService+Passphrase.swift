import Contracts
import Cryptography
import EventLoop
import Frames
import KeyStore
import Nostr
import Signing

extension SignerService {
  /// Stores a key under another passphrase, or under none.
  ///
  /// The present passphrase is asked for although the key may be open: an unlocked signer must not be enough to take
  /// the owner's key out of the owner's hands. What was open stays open, and what was locked stays locked, unless
  /// nothing is left to lock it with.
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
    }
    guard key.publicKey == account.stored.publicKey else {
      throw Refusal(
        .failed, "the key file of '\(name)' holds another key than it says; somebody has changed it",
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
        .failed, "the key could not be stored anew, and its file has the one form or the other: \(fault)",
        outcome: .unknown)
    }
    // While this was at work the key may have been locked; whether it is open is looked at now.
    accounts[name]?.stored = stored
    if new == nil, accounts[name]?.open == nil {
      accounts[name]?.open = key
      perform(machine.unlocked(name))
    }
    return try told(name)
  }
}
