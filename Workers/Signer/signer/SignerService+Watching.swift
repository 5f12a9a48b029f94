import Contracts
import Cryptography
import EventLoop
import Frames
import KeyStore
import Nostr
import Signing

// Accounts of which only the public key is here: they are read along with, and sign nothing.

extension SignerService {
  /// Adds an account without its secret key.
  func watch(_ wanted: SignerWatch) async throws(Refusal) -> SignerAccount {
    let key: PublicKey
    do throws(EntityFault) { key = try PublicKey(spelled: wanted.publicKey) } catch {
      throw SignerJob.bad("'publicKey': \(error)")
    }
    guard ParsedPublicKey(key) != nil else {
      throw SignerJob.bad("'publicKey': \(key.npub) is no key of any secret key; a digit is wrong, say")
    }
    if let refusal = machine.refusalOfNew(wanted.name, key) { throw refusal }
    if accounts[wanted.name] != nil { return try told(wanted.name) }
    if let refusal = refusalOfFile(wanted.name) { throw refusal }
    return try await store(wanted.name, key, .absent, open: nil)
  }

  /// Stores the secret key of an account of which only the public key was here. A left account stays left.
  func complete(
    _ name: String, _ key: SecretKey, _ secret: StoredKey.Secret
  ) async throws(Refusal) -> SignerAccount {
    let stored = StoredKey(name: name, publicKey: key.publicKey, createdAt: KeyUse.now, secret: secret)
    let result = await EventLoopActor.onThreadPool { [directory] in
      Result { () throws(KeyStoreFault) in try directory.replace(stored) }
    }
    if case .failure(let fault) = result {
      throw Refusal(.failed, "the key cannot be stored: \(fault)", outcome: .unknown)
    }
    accounts[name]?.stored = stored
    machine.gainedKey(name)
    if choices.left[key.publicKey] == nil {
      accounts[name]?.open = key
      perform(machine.unlocked(name))
    }
    return try told(name)
  }
}
