/// What the network has to do with a client's query.
public enum NetworkPart: Hashable, Sendable {
  /// Nothing: the store alone is read.
  case none
  /// Relays are asked beside the store for their newest events, and EOSE does not wait for them.
  case beside
  /// EOSE waits for what relays have.
  case awaited
}
