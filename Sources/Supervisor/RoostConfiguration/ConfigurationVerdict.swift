/// All there is to say about a configuration file: whether it can be used, and what in it is hardly meant.
public struct ConfigurationVerdict: Sendable {
  /// The configuration, or why there is none.
  public var outcome: Result<SupervisorConfiguration, ConfigurationError>
  /// What is allowed and yet hardly meant, in the order of the file; it fails nothing. Empty when the file could not be
  /// read as TOML.
  public var doubts: [ConfigurationProblem]

  /// A verdict of these parts.
  public init(outcome: Result<SupervisorConfiguration, ConfigurationError>, doubts: [ConfigurationProblem]) {
    self.outcome = outcome
    self.doubts = doubts
  }
}
