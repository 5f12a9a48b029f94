public import PushDelivery

/// Whom an owner wants to be woken by, and by whom not: the body of `PUT /contacts`, which replaces what was there, and
/// of the answer to `GET /contacts`.
///
///     {"allow":["…"],"block":["…"],"policy":"contacts"}
public struct ContactRules: Hashable, Sendable {
  /// Senders who get through when strangers do not, in the order of their keys.
  public let allowed: [PushOwner]
  /// Senders who never get through, and are not told so.
  public let blocked: [PushOwner]
  /// Who gets through beside them.
  public let policy: AdmissionPolicy?

  /// Most keys in each list.
  public static let keyCountMaximum = 1_000

  /// A book.
  public init(allowed: [PushOwner] = [], blocked: [PushOwner] = [], policy: AdmissionPolicy? = nil) {
    self.allowed = Self.ordered(allowed)
    self.blocked = Self.ordered(blocked)
    self.policy = policy
  }

  /// Reads a book. A list that is not there is empty; a policy that is not there stays as it was.
  ///
  /// - Throws: `invalid_request`, with the entry that is wrong.
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
