public import Frames
public import Nostr

extension JSONValue {
  /// A filter as it stands in payloads.
  public init(of filter: Filter) {
    do throws(Refusal) { self = try JSONPayload.decode(JSONValue.self, from: filter.json) } catch {
      preconditionFailure("a filter's own JSON can be read: \(error.message)")
    }
  }
}
