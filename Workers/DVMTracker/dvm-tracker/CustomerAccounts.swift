import Bus
import Contracts
import Cryptography
import EventLoop
import Frames
import LinuxSystem
import Logging

// Whose jobs they are: the accounts, as the signer reports them.
//
// Each submission needs the accounts, and the signer limits the questions per second. So its answer is kept until the
// signer reports a change (which it does before it answers the request that caused it), until another signer runs, or
// for a while, in case a report was missed. Submissions at the same time share one question.

/// Knows the accounts of the signer.
@EventLoopActor
final class CustomerAccounts {
  /// The accounts of the last report: they serve to say what is wrong with one, and decide nothing.
  private(set) var lastReported: [SignerAccount] = []
  /// Called when the signer reports other accounts than before, or other states of them.
  var onChange: (@EventLoopActor () -> Void)?

  private let signer: SignerRequests
  private let log: Logger
  private var known: (accounts: SignerAccounts, at: Int64)?
  private var question: Task<Result<SignerAccounts, Refusal>, Never>?
  private var ownQuestion: Task<Result<SignerAccount, Refusal>, Never>?
  private var signerEndpoint: UInt32?

  /// How long an answer is good without a report of a change.
  private static let keptMilliseconds: Int64 = 10_000
  /// How long the signer may take while a submitter waits.
  private static let patienceMilliseconds: UInt32 = 5_000

  init(_ signer: SignerRequests, _ log: Logger) {
    self.signer = signer
    self.log = log
  }

  // MARK: What changes

  /// The topic has reported all accounts. It leaves out refused keys, so the next submission asks for all again.
  func received(_ changes: SignerChanges) {
    forget()
    adopt(changes.accounts)
  }

  /// A report may have been missed. The answer to a question under way may be from before it.
  func forget() {
    known = nil
    question = nil
  }

  func registryChanged(_ registry: Registry) {
    let endpoint = registry.members.first { $0.role == Role.signer.name && $0.isReady }?.endpoint
    guard endpoint != signerEndpoint else { return }
    signerEndpoint = endpoint
    if endpoint != nil { learn() } else { forget() }
  }

  /// Asks again, though no submission waits: so a job of a locked account says so from the start.
  func learn() {
    forget()
    EventLoopActor.task { [self] in
      // `try?`: the next submission asks again, and the signer reports changes.
      _ = try? await askOnce()
    }
  }

  private func adopt(_ accounts: [SignerAccount]) {
    guard accounts != lastReported else { return }
    lastReported = accounts
    onChange?()
  }

  // MARK: What is asked

  /// The account that a submitter names, by its name or its key. Without a name: the one that is used, the only one, or
  /// the tracker's own if the signer has no other.
  ///
  /// - Throws: `no-such-account`; what the signer refuses with.
  func account(named name: String?) async throws(Refusal) -> PublicKey {
    if let key = fresh.flatMap({ Self.choice(name, in: $0).key }) { return key }
    // When it is not found, the signer is asked again: the account may be a moment old.
    let choice = Self.choice(name, in: try await askOnce())
    if let key = choice.key { return key }
    if let refusal = choice.refusal { throw refusal }
    return try await own()
  }

  /// The keys of all accounts, those of workers among them.
  ///
  /// - Throws: what the signer refuses with.
  func keys() async throws(Refusal) -> Set<PublicKey> {
    let known = if let fresh { fresh } else { try await askOnce() }
    return Set(known.accounts.compactMap { PublicKey($0.publicKey) })
  }

  /// The last answer, while it is good.
  private var fresh: SignerAccounts? {
    let now = WallClock.milliseconds
    return known.flatMap { (0..<Self.keptMilliseconds).contains(now - $0.at) ? $0.accounts : nil }
  }

  private func askOnce() async throws(Refusal) -> SignerAccounts {
    if let question { return try await question.value.get() }
    let asked = EventLoopActor.task { [signer] () -> Result<SignerAccounts, Refusal> in
      do throws(Refusal) {
        return .success(
          try await signer.ask(
            SignerMethod.accounts, NoArguments(), ttlMilliseconds: Self.patienceMilliseconds, isAhead: true))
      } catch { return .failure(Self.explained(error)) }
    }
    question = asked
    let result = await asked.value
    // Kept unless something has changed meanwhile.
    guard question == asked else { return try result.get() }
    question = nil
    let accounts = try result.get()
    known = (accounts, WallClock.milliseconds)
    adopt(accounts.accounts)
    return accounts
  }

  /// What a silent signer means for a job, in its submitter's words.
  private static func explained(_ refusal: Refusal) -> Refusal {
    guard [.expired, .unavailable, .workerDied].contains(refusal.code) else { return refusal }
    var told = refusal
    let time = Amount.duration(milliseconds: UInt64(patienceMilliseconds))
    let why = refusal.code == .expired ? "the signer has not answered for \(time)" : refusal.message
    told.message =
      "\(why), and only it knows whose the job would be: it is not accepted. 'roost why signer' tells what is wrong; "
      + "then submit it again"
    return told
  }

  private func own() async throws(Refusal) -> PublicKey {
    let account = try await ownAccount()
    guard let key = PublicKey(account.publicKey) else {
      throw Refusal(.badPayload, "the signer's own account has no key", outcome: .notStarted)
    }
    if !lastReported.contains(where: { $0.publicKey == account.publicKey }) { adopt(lastReported + [account]) }
    return key
  }

  private func ownAccount() async throws(Refusal) -> SignerAccount {
    if let ownQuestion { return try await ownQuestion.value.get() }
    let asked = EventLoopActor.task { [signer] () -> Result<SignerAccount, Refusal> in
      do throws(Refusal) {
        return .success(
          try await signer.ask(
            SignerMethod.own, NoArguments(), ttlMilliseconds: Self.patienceMilliseconds, isAhead: true))
      } catch { return .failure(Self.explained(error)) }
    }
    ownQuestion = asked
    let result = await asked.value
    // From now on it is among the accounts.
    if ownQuestion == asked { ownQuestion = nil }
    forget()
    return try result.get()
  }

  /// The account that a submitter means. Neither a key nor a refusal: the tracker's own, which is not made yet.
  private static func choice(_ name: String?, in known: SignerAccounts) -> (key: PublicKey?, refusal: Refusal?) {
    if let name {
      let found = known.accounts.first { [$0.name, $0.publicKey, $0.npub].contains(name) }
      if let found, found.isLeft == true {
        let text = "the account \(found.name) is left; 'roost account use \(found.name)' brings it back"
        return (nil, Refusal(.locked, text, outcome: .notStarted))
      }
      if let key = found.flatMap({ PublicKey($0.publicKey) }) { return (key, nil) }
      let problem = known.refused.first(named: name).map { ": \($0.sentence)" } ?? ""
      return (
        nil, Refusal(.noSuchAccount, "there is no account \"\(name.prefix(80))\"\(problem)", outcome: .notStarted)
      )
    }
    if let used = known.accounts.first(where: { $0.isUsed == true }) { return (PublicKey(used.publicKey), nil) }
    let people = known.accounts.present.filter { !$0.isOfWorker }
    let refused = known.refused.filter { key in !Role.withAccount.contains { $0.name == key.account } }
    if people.count == 1, refused.isEmpty { return (PublicKey(people[0].publicKey), nil) }
    guard people.isEmpty, refused.isEmpty else {
      let names = (people.map(\.name) + refused.map(\.account)).sorted().joined(separator: ", ")
      return (
        nil,
        Refusal(
          .noSuchAccount, "there are several accounts (\(names)): name one with --as, or as 'account' in a call",
          outcome: .notStarted)
      )
    }
    let own = known.accounts.first { $0.name == Role.dvmTracker.name }
    return (own.flatMap { PublicKey($0.publicKey) }, nil)
  }

  /// The name of an account that the signer has reported.
  func name(of account: String) -> String? { lastReported.first { $0.publicKey == account }?.name }

  // MARK: What is wrong with one

  /// Why nothing can be signed for an account now, as a sentence's end; nil when no reason is known.
  func hindrance(of account: String) -> String? {
    guard let found = lastReported.first(where: { $0.publicKey == account }), found.state == .locked else { return nil }
    if found.isLeft == true { return "its account \(found.name) is left: roost account use \(found.name)" }
    if found.isReadOnly == true { return "there is no key of \(found.name) here: roost key import \(found.name)" }
    return "its account \(found.name) is locked: roost key unlock \(found.name)"
  }
}
