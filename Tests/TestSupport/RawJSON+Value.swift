public import Contracts
public import Frames

extension RawJSON {
  /// A value that a test has put together.
  public init(_ value: JSONValue) { self.init(JSONPayload.encode(value)) }
}

extension SignerSign {
  /// An event to sign that a test has put together.
  public init(account: String? = nil, event: JSONValue, allowSecrets: Bool? = nil, deleted: [JSONValue]? = nil) {
    self.init(account: account, event: RawJSON(event), allowSecrets: allowSecrets, deleted: deleted)
  }
}
