public import Frames

extension Refusal {
  /// How a refusal ends that says that no worker of a role is configured. A worker that is configured and is not there
  /// (it failed, it was stopped) is another matter, and has words of its own.
  private static let nobodyConfigured = "supervisor.conf has none"

  /// A method that nobody serves, because no worker of its role is configured.
  ///
  /// - Parameters:
  ///   - method: the method's name.
  ///   - role: the role's name.
  public static func nobodyConfigured(for method: String, of role: String) -> Refusal {
    Refusal(
      .unavailable, "\(method) needs a worker of role '\(role)', and \(nobodyConfigured)", outcome: .notStarted)
  }

  /// Whether it says that no worker of the role is configured.
  public var isNobodyConfigured: Bool { code == .unavailable && message.hasSuffix(Self.nobodyConfigured) }
}
