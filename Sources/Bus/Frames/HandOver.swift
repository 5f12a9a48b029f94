/// The payload of a NACK that answers a REQUEST, JSON: the worker has not begun the request, and another worker of its
/// role is the one to ask.
///
/// The hub gives the request to that worker, once. If it cannot, because the caller addressed this very worker, the
/// request was handed over before, or no such worker is there, the caller receives `refusal`.
public struct HandOver: Codable, Hashable, Sendable {
  /// The name of the worker to ask, as in `supervisor.conf`.
  public var worker: String
  /// What the caller receives otherwise; its outcome is `not-started`.
  public var refusal: Refusal

  /// A request for another worker.
  public init(to worker: String, otherwise refusal: Refusal) {
    self.worker = worker
    self.refusal = refusal
  }
}
