internal import Contracts
public import Frames

// Which role may have which kinds signed.
//
// The hub's table says who may call `signer.sign` at all; that is a matter of methods, and the hub reads no payload. Which
// kinds a role may have signed stands here. A worker that was taken over by what it read on the net can then sign no more than
// its own task needs: the planner a relay list, the tracker a request for a job, and neither of them a note or a profile.
//
// A client, which is the person's own program, may have everything signed but kind 22242: that event says to a relay "I am
// here, on this connection", and one that is passed on lets somebody else say so. It is made by `signer.authenticate` alone.

/// Why a rule of `sign-kinds` makes no sense.
public struct PolicyFault: Error, Hashable, Sendable, CustomStringConvertible {
  /// The rule.
  public let rule: String
  /// A sentence.
  public var description: String {
    "sign-kinds: \"\(rule)\" is not of the form \"role:kind\" or \"role:kind-kind\", such as \"example:1\" or "
      + "\"example:30000-39999\", with a role that is your own and kinds from 0 to 65535 without 22242"
  }
}

/// The kinds that each role may have signed, and the roles that may ask for a gift wrap.
public struct SigningPolicy: Sendable {
  private var kinds: [String: [ClosedRange<UInt16>]] = SigningPolicy.builtIn

  /// The kind that shows who one is to a relay (NIP-42).
  public static let authenticationKind: UInt16 = 22_242
  /// Most rules that `supervisor.conf` may add.
  public static let ruleMaximum = 256

  private static let builtIn: [String: [ClosedRange<UInt16>]] = [
    Role.client.name: [0...authenticationKind - 1, authenticationKind + 1 ... .max],
    // The relay list it has decided on (NIP-65).
    Role.outboxPlanner.name: [10_002...10_002],
    // Requests for jobs, and results and feedback about them (NIP-90).
    Role.dvmTracker.name: [5_000...5_999],
    Role.dvmProvider.name: [6_000...7_000],
  ]

  /// The built-in rules, and those of `sign-kinds` for roles of people's own: `example:1`, `example:30000-39999`.
  public init(rules: [String] = []) throws(PolicyFault) {
    for rule in rules.prefix(Self.ruleMaximum) {
      let (role, range) = try Self.parse(rule)
      kinds[role, default: []].append(range)
    }
  }

  /// Reads one rule.
  public static func parse(_ rule: String) throws(PolicyFault) -> (role: String, kinds: ClosedRange<UInt16>) {
    let parts = rule.split(separator: ":", omittingEmptySubsequences: false)
    guard parts.count == 2, !parts[0].isEmpty, !Role.builtIn.contains(where: { $0.name == parts[0] }) else {
      throw PolicyFault(rule: rule)
    }
    let ends = parts[1].split(separator: "-", omittingEmptySubsequences: false).map { UInt16($0) }
    guard (1...2).contains(ends.count), let first = ends.first ?? nil, let last = ends.last ?? nil, first <= last,
      !(first...last).contains(authenticationKind)
    else { throw PolicyFault(rule: rule) }
    return (String(parts[0]), first...last)
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
