public import PushDelivery

/// Which senders may wake an owner: the body of `PUT /contacts`, which replaces the earlier lists, and of the answer to
/// `GET /contacts`.
///
///     {"allow":["…"],"block":["…"],"policy":"contacts"}
public struct ContactRules: Hashable, Sendable {
  /// Senders that are admitted also when strangers are not, in the order of their keys.
  public let allowed: [PushOwner]
  /// Senders that are never admitted, and do not learn it.
  public let blocked: [PushOwner]
  /// Which other senders are admitted.
  public let policy: AdmissionPolicy?

  /// Most keys in each list.
  public static let keyCountMaximum = 1_000

  /// Lists and a policy.
  public init(allowed: [PushOwner] = [], blocked: [PushOwner] = [], policy: AdmissionPolicy? = nil) {
    self.allowed = Self.ordered(allowed)
    self.blocked = Self.ordered(blocked)
    self.policy = policy
  }

  /// Reads lists and a policy. A missing list is empty; a missing policy leaves the present one.
  ///
  /// - Throws: `invalid_request`, with the wrong entry.
  public init(_ body: RequestBody) throws(PushRefusal) {
    let allowed = try Self.owners(body, "allow")
    let blocked = try Self.owners(body, "block")
    let both = Set(allowed).intersection(blocked)
    guard both.isEmpty else {
      throw .invalid("\(both.count == 1 ? "a key stands" : "\(both.count) keys stand") in 'allow' and in 'block'")
    }
    self.init(allowed: allowed, blocked: blocked, policy: try body.word("policy", of: AdmissionPolicy.self))
  }

  private static func owners(_ body: RequestBody, _ name: String) throws(PushRefusal) -> [PushOwner] {
    let texts = try body.texts(name, countMaximum: keyCountMaximum, byteCountMaximum: 255)
    var owners: [PushOwner] = []
    for (index, text) in (texts ?? []).enumerated() {
      guard let owner = OwnerName.owner(text) else {
        throw .invalid("'\(name)[\(index)]' is no key: \(OwnerName.rule)")
      }
      owners.append(owner)
    }
    return owners
  }

  private static func ordered(_ owners: [PushOwner]) -> [PushOwner] {
    Set(owners).sorted { ($0.realm.rawValue, $0.key) < ($1.realm.rawValue, $1.key) }
  }
}
