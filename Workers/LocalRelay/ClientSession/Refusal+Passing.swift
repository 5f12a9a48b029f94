public import Frames

extension Refusal {
  /// Whether another attempt may succeed: the worker that was asked died, is starting, or was busy.
  public var isPassing: Bool {
    switch code {
    case .workerDied, .unavailable, .gone, .expired, .full: true
    default: false
    }
  }
}
