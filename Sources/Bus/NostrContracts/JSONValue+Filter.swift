public import Frames
public import Nostr

extension JSONValue {
  /// A filter in the form of a payload.
  public init(of filter: Filter) {
    do throws(Refusal) { self = try JSONPayload.decode(JSONValue.self, from: filter.json) } catch {
      preconditionFailure("a filter's own JSON can be read: \(error.message)")
    }
  }
}
