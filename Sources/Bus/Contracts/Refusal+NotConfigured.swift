public import Frames

extension Refusal {
  /// The refusal of a method that no worker serves, because no worker of its role is configured.
  ///
  /// - Parameters:
  ///   - method: the method's name.
  ///   - role: the role's name.
  public static func notConfigured(_ method: String, of role: String) -> Refusal {
    Refusal(
      .unavailable, "\(method) needs a worker of role '\(role)', and supervisor.conf has none", outcome: .notStarted,
      reason: .notConfigured)
  }
}
