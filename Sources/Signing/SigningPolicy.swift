internal import Contracts
public import Frames

// Which role may have which kinds signed.
//
// The hub's table says who may call `signer.sign` at all; that is a matter of methods, and the hub reads no payload.
// Which kinds a role may have signed stands here. A worker that was taken over by what it read on the net can then sign
// no more than its own task needs: the planner a relay list, the tracker a request for a job, and neither of them a
// note or a profile.
//
// A client, which is the person's own program, may have everything signed but kind 22242: that event says to a relay "I
// am here, on this connection", and one that is passed on lets somebody else say so. It is made by
// `signer.authenticate` alone.

/// Why a rule of `sign-kinds` makes no sense.
public struct PolicyFault: Error, Hashable, Sendable, CustomStringConvertible {
  /// The rule.
  public let rule: String
  /// A sentence.
  public var description: String {
    "sign-kinds: \"\(rule)\" is not \(SigningRule.form)"
  }
}

/// The kinds that each role may have signed, and the roles that may ask for a gift wrap.
public struct SigningPolicy: Sendable {
  private var kinds: [String: [ClosedRange<UInt16>]] = SigningPolicy.builtIn

  /// The kind that shows who one is to a relay (NIP-42).
  public static let authenticationKind = SigningRule.authenticationKind

  private static let builtIn: [String: [ClosedRange<UInt16>]] = [
    Role.client.name: [0...authenticationKind - 1, authenticationKind + 1 ... .max],
    // The relay list it has decided on (NIP-65).
    Role.outboxPlanner.name: [10_002...10_002],
    // Requests for jobs (NIP-90), their deletion when they are called off (NIP-09), requests for zaps (NIP-57).
    Role.dvmTracker.name: [5...5, 5_000...5_999, 9_734...9_734],
    // Results and feedback, and what it says of itself (NIP-89) until it deletes that.
    Role.dvmProvider.name: [5...5, 6_000...7_000, 31_990...31_990],
  ]

  /// The built-in rules, and those of `sign-kinds` for roles of people's own: `example:1`, `example:30000-39999`.
  public init(rules: [String] = []) throws(PolicyFault) {
    for text in rules.prefix(SigningRule.countMaximum) {
      guard let rule = SigningRule(text) else { throw PolicyFault(rule: text) }
      kinds[rule.role, default: []].append(rule.kinds)
    }
  }

  /// Whether this role may have this kind signed.
  public func allows(_ kind: UInt16, role: String) -> Bool {
    kinds[role]?.contains { $0.contains(kind) } ?? false
  }

  /// Why a use is against the rules; nil when it is not.
  public func refusal(of use: SignerUse) -> Refusal? {
    guard use.method == .sign, let kind = use.kind, !allows(kind, role: use.caller.role) else { return nil }
    if kind == Self.authenticationKind {
      return Refusal(
        .forbidden, "kind 22242 is not signed for anybody: the signer makes it itself, by signer.authenticate",
        outcome: .notStarted)
    }
    let advice =
      Role.builtIn.contains { $0.name == use.caller.role }
      ? "" : "; allow it with sign-kinds = [\"\(use.caller.role):\(kind)\"] of the signer in supervisor.conf"
    return Refusal(
      .forbidden, "the role \(use.caller.role) may not have kind \(kind) signed\(advice)", outcome: .notStarted)
  }
}
