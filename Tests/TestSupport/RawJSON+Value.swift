public import Frames

extension RawJSON {
  /// A value that a test has put together.
  public init(_ value: JSONValue) { self.init(JSONPayload.encode(value)) }
}
