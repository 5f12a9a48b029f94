/// The environment of a job's program.
///
/// The exec shim gets it as its own and is told what of it goes on by name: a command line can be read by every user of
/// the machine, an environment by its owner and root.
public struct ProgramVariables: Sendable, Equatable {
  /// `NAME=VALUE`, each name once.
  public private(set) var entries: [String] = []

  /// Of several values of a name the last one counts.
  ///
  /// - Parameter entries: `NAME=VALUE`.
  public init(_ entries: [String]) {
    for entry in entries {
      self.entries.removeAll { Self.name(of: $0) == Self.name(of: entry) }
      self.entries.append(entry)
    }
  }

  /// What the exec shim is told of them.
  public var shimArguments: [String] { entries.flatMap { ["--env", Self.name(of: $0)] } }

  private static func name(of entry: String) -> String { String(entry.prefix { $0 != "=" }) }
}
