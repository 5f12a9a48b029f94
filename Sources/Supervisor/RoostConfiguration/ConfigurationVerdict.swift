/// The result of checking a configuration file: whether it can be used, and what in it is probably not intended.
public struct ConfigurationVerdict: Sendable {
  /// The configuration, or why it cannot be used.
  public var outcome: Result<SupervisorConfiguration, ConfigurationError>
  /// What is allowed but probably not intended, in the order of the file; nothing fails because of it. Empty when the
  /// file could not be read as TOML.
  public var doubts: [ConfigurationProblem]

  /// A verdict of these parts.
  public init(outcome: Result<SupervisorConfiguration, ConfigurationError>, doubts: [ConfigurationProblem]) {
    self.outcome = outcome
    self.doubts = doubts
  }
}
