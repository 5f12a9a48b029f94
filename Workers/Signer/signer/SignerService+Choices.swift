import Contracts
import Cryptography
import EventLoop
import Frames
import KeyStore
import Logging
import Signing

// Which account is meant where none is named, and which are left. What is said is on the disk before it holds.

extension SignerService {
  /// Reads what was said before. A damaged file counts as none.
  func loadChoices() {
    guard let stored = directory.choices() else {
      log.error(
        "the file of left and used accounts is damaged: no account counts as left, and none as used",
        metadata: ["file": "\(directory.path)/\(KeyDirectory.choicesName)"])
      return
    }
    choices = stored
  }

  /// The account that was chosen, if it is here.
  func adoptChosen() {
    machine.chosen(accounts.first { $0.value.stored.publicKey == choices.used }?.key)
    tellStatus()
  }

  /// Changes what is said, on the disk first.
  func change(_ body: (inout AccountChoices) -> Void) async throws(Refusal) {
    var new = choices
    body(&new)
    guard new != choices else { return }
    let result = await EventLoopActor.onThreadPool { [directory, new] in
      Result { () throws(KeyStoreFault) in try directory.store(new) }
    }
    if case .failure(let fault) = result {
      throw Refusal(.failed, "it cannot be written down: \(fault)", outcome: .unknown)
    }
    choices = new
  }

  /// From now on an account is meant where none is named; it is no longer left.
  func choose(_ wanted: SignerChoose) async throws(Refusal) -> SignerAccount {
    let name = try machine.resolve(wanted.account).name
    let account = try told(name)
    guard !account.isOfWorker, let key = PublicKey(account.publicKey) else {
      throw SignerJob.bad("the account '\(name)' is a worker's own, and always named")
    }
    try await change {
      $0.used = key
      $0.left[key] = nil
    }
    machine.chosen(name)
    try await bringBack(name)
    return try told(name)
  }

  /// A left account is no longer left. A key without a passphrase is open at once.
  func bringBack(_ name: String) async throws(Refusal) {
    guard let account = accounts[name] else { return }
    try await change { $0.left[account.stored.publicKey] = nil }
    machine.broughtBack(name)
    guard account.open == nil, case .unencrypted(let secret) = account.stored.secret else { return }
    accounts[name]?.open = secret
    perform(machine.unlocked(name))
  }

  /// Locks an account, and ends what is asked for it.
  func leave(_ wanted: SignerLeave) async throws(Refusal) -> SignerAccount {
    let name = try machine.resolve(wanted.account).name
    let account = try told(name)
    guard !account.isOfWorker, let key = PublicKey(account.publicKey) else {
      throw SignerJob.bad("the account '\(name)' is a worker's own; without it the worker does nothing")
    }
    if wanted.isForgetting == true, account.origin == .credential {
      throw SignerJob.bad(
        "the key of '\(name)' is a credential of the service manager's: it would return with the next start; remove it "
          + "there first")
    }
    let isForgetting = wanted.isForgetting == true || account.isForgetting == true
    try await change {
      $0.left[key] = isForgetting
      if $0.used == key { $0.used = nil }
    }
    accounts[name]?.open = nil
    perform(machine.left(name, isForgetting: isForgetting))
    return try told(name)
  }
}
