internal import Contracts
internal import Cryptography
public import Frames
internal import Nostr

// Which kinds each role may have signed, as which account, and what it may have decrypted.
//
// The hub's table decides which role may call `signer.sign` at all: it knows methods, and reads no payload. The rules
// about the use of keys are here. A worker that malicious network input has taken over can then do no more than its own
// task needs:
//
// - Kinds. The planner has a relay list signed, the tracker a job request, and neither of them a note or a profile.
// - Accounts. In all operations a job provider acts as its own account and no other: the account from the
//   configuration, or the account of its role. `roostd` says which.
// - Decryption. The planner reads lists of blocked relays, the tracker a provider's answers, the provider a customer's
//   requests, and each shows the event whose content it is, signed by its author. Messages have other kinds, and only
//   their author could sign them as something else.
// - Gift wraps. `link-feed` opens every gift wrap of an account, which is its task, but has sealed only what belongs
//   into private messages, and reads no list.
// - Deletion. A deletion names events by their ids, which do not show the kinds. So the caller shows the events: an
//   event's id is a hash over its kind too.
//
// A client is the user's own program, and may have every kind signed except 22242. That event tells a relay "this
// connection is mine"; if it is passed on, another program can claim it. Only `signer.authenticate` makes it.
//
// Two checks are elsewhere. Before these rules `SignerJob` reads the request: the spelling of a relay's URL, the length
// of a challenge, the signatures of shown events. `SignerMachine.speakerRefusal` lets only one connector authenticate
// at a relay.

/// Why a rule of `sign-kinds` is invalid.
public struct PolicyFault: Error, Hashable, Sendable, CustomStringConvertible {
  /// The rule.
  public let rule: String
  /// A sentence.
  public var description: String {
    "sign-kinds: \"\(rule)\" is not \(SigningRule.form)"
  }
}

/// What each role may have signed and decrypted, as which account.
public struct SigningPolicy: Sendable {
  /// Kinds that may be signed, for one account as the configuration writes it, or for every account.
  private struct Grant {
    var kinds: ClosedRange<UInt16>
    var account: String?
  }

  private var grants = SigningPolicy.builtIn.mapValues { $0.map { Grant(kinds: $0) } }
  /// The account of each provider, by the provider's name (``WorkerAccounts``).
  private let providerAccounts: [String: String]

  /// The kind that authenticates at a relay (NIP-42).
  public static let authenticationKind = SigningRule.authenticationKind

  private static let builtIn: [String: [ClosedRange<UInt16>]] = [
    Role.client.name: [0...authenticationKind - 1, authenticationKind + 1 ... .max],
    // The relay list that it has decided on (NIP-65).
    Role.outboxPlanner.name: [10_002...10_002],
    // Job requests (NIP-90), their deletion when they are cancelled (NIP-09), zap requests (NIP-57).
    Role.dvmTracker.name: [5...5, 5_000...5_999, 9_734...9_734],
    // Profiles, follow lists, and every list that an account has one of, or several (NIP-51).
    Role.people.name: [0...0, 3...3] + lists,
    // Results and feedback, its announcement (NIP-89), and the deletion of the announcement.
    Role.dvmProvider.name: [5...5, 6_000...7_000, 31_990...31_990],
    // Direct messages of the old form (NIP-04).
    Role.linkFeed.name: [EventKind.encryptedDirectMessage...EventKind.encryptedDirectMessage],
  ]

  /// A link of linkstr, or what belongs to it.
  private static let linkKind: UInt16 = 44_001

  /// The kinds of rumors that this role may have sealed: messages, files, reactions and deletions of private messages
  /// (NIP-17), and links as linkstr writes them.
  private static let sealable: [String: Set<UInt16>] = [
    Role.linkFeed.name: [
      EventKind.deletion, EventKind.reaction, EventKind.privateMessage, EventKind.privateFile, linkKind,
    ]
  ]

  /// The kinds that these roles may delete: job requests, and a provider's announcement.
  private static let deletable: [String: ClosedRange<UInt16>] = [
    Role.dvmTracker.name: EventKind.jobRequests,
    Role.dvmProvider.name: EventKind.handlerInformation...EventKind.handlerInformation,
  ]

  /// The kinds whose contents these roles may have decrypted: relays that an account blocks, answers to a job, job
  /// requests, the private entries of lists, and direct messages of the old form.
  private static let readable: [String: [ClosedRange<UInt16>]] = [
    Role.outboxPlanner.name: [EventKind.blockedRelays...EventKind.blockedRelays],
    Role.dvmTracker.name: [EventKind.jobResults.lowerBound...EventKind.jobFeedback],
    Role.dvmProvider.name: [EventKind.jobRequests],
    Role.people.name: lists,
    Role.linkFeed.name: [EventKind.encryptedDirectMessage...EventKind.encryptedDirectMessage],
  ]

  /// Every list that an account has one of, or several (NIP-51).
  private static let lists: [ClosedRange<UInt16>] = [10_000...19_999, 30_000...39_999]

  /// The built-in rules, and those of the configuration.
  ///
  /// - Parameters:
  ///   - rules: `sign-kinds`, for custom roles: `example:1`, `example:30000-39999`, `example:1@bot`.
  ///   - providerAccounts: the account of each provider, by its name; "" or a missing name: the account of its role.
  public init(rules: [String] = [], providerAccounts: [String: String] = [:]) throws(PolicyFault) {
    self.providerAccounts = providerAccounts
    for text in rules.prefix(SigningRule.countMaximum) {
      guard let rule = SigningRule(text) else { throw PolicyFault(rule: text) }
      grants[rule.role, default: []].append(Grant(kinds: rule.kinds, account: rule.account))
    }
  }

  /// Whether this role may have this kind signed, by at least one account.
  public func allows(_ kind: UInt16, role: String) -> Bool {
    grants[role]?.contains { $0.kinds.contains(kind) } ?? false
  }

  /// Why a use is against the rules with any account; nil when it is not.
  public func refusal(of use: SignerUse) -> Refusal? {
    switch use.method {
    case .sign: use.kind.flatMap { kindRefusal($0, use) }
    case .nip04Decrypt, .nip44Decrypt: Self.contentRefusal(use)
    case .wrap: use.kind.flatMap { Self.sealRefusal($0, use.caller.role) }
    default: nil
    }
  }

  private func kindRefusal(_ kind: UInt16, _ use: SignerUse) -> Refusal? {
    guard allows(kind, role: use.caller.role) else {
      if kind == Self.authenticationKind {
        return Self.forbidden(
          "kind 22242 is not signed on request: the signer makes it itself, by signer.authenticate")
      }
      let advice =
        Role.builtIn.contains { $0.name == use.caller.role }
        ? "" : "; allow it with sign-kinds = [\"\(use.caller.role):\(kind)\"] of the signer in supervisor.conf"
      return Self.forbidden("the role \(use.caller.role) may not have kind \(kind) signed\(advice)")
    }
    guard kind == EventKind.deletion, let deletable = Self.deletable[use.caller.role] else { return nil }
    let words = "the role \(use.caller.role) may have kinds \(deletable.lowerBound) to \(deletable.upperBound) deleted"
    guard let deleted = use.deletedKinds else {
      return Self.forbidden("\(words), and shows what it deletes in 'deleted': something that it names is not there")
    }
    guard deleted.allSatisfy(deletable.contains) else { return Self.forbidden("\(words), and nothing else") }
    return nil
  }

  private static func sealRefusal(_ kind: UInt16, _ role: String) -> Refusal? {
    guard let sealable = sealable[role], !sealable.contains(kind) else { return nil }
    return forbidden("the role \(role) may not have kind \(kind) sealed")
  }

  private static func contentRefusal(_ use: SignerUse) -> Refusal? {
    guard let readable = readable[use.caller.role] else { return nil }
    let kinds = readable.map { "\($0.lowerBound) to \($0.upperBound)" }.joined(separator: " and ")
    let words = "the role \(use.caller.role) may read events of kinds \(kinds)"
    guard let kind = use.contentKind else {
      return forbidden("\(words), and shows the one that it reads in 'event', in place of 'text'")
    }
    return readable.contains { $0.contains(kind) } ? nil : forbidden("\(words), and none of kind \(kind)")
  }

  /// Why a use is against the rules with this account; nil when it is not.
  public func refusal(of use: SignerUse, as account: SignerMachine.Account) -> Refusal? {
    let role = use.caller.role
    if role == Role.dvmProvider.name {
      let own = providerAccounts[use.caller.name].flatMap { $0.isEmpty ? nil : $0 } ?? role
      guard !Self.names(own, account) else { return nil }
      return Self.forbidden("\(use.caller.name) acts as its own account alone, which is \(own)")
    }
    if role == Role.people.name, let peer = use.peer, peer != account.publicKey {
      return Self.forbidden("the role \(role) encrypts and decrypts what an account keeps for itself, and nothing else")
    }
    if let author = use.contentAuthor, author != use.peer, author != account.publicKey {
      return Self.forbidden("'event' is of \(author), and neither of 'peer' nor of \(account.name)")
    }
    guard let grants = grants[role], grants.contains(where: { $0.account != nil }) else { return nil }
    let fitting =
      use.method == .sign ? grants.filter { grant in use.kind.map(grant.kinds.contains) ?? false } : grants
    guard fitting.contains(where: { $0.account.map { Self.names($0, account) } ?? true }) else {
      return Self.forbidden(
        "the role \(role) may not act as \(account.name): its rules in sign-kinds name other accounts")
    }
    return nil
  }

  /// Whether a text of the configuration names this account: by its name, its `npub` or its hexadecimal digits.
  private static func names(_ text: String, _ account: SignerMachine.Account) -> Bool {
    if text == account.name { return true }
    // A text that is no key is the name of another account.
    let key = Result { () throws(EntityFault) in try PublicKey(spelled: text) }
    guard case .success(let key) = key else { return false }
    return key == account.publicKey
  }

  private static func forbidden(_ message: String) -> Refusal { Refusal(.forbidden, message, outcome: .notStarted) }
}
