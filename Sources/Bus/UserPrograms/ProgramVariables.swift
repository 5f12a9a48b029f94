/// The environment of a user's program.
///
/// The exec shim gets these variables as its own environment, and the names of those to pass on as arguments: every
/// user of the machine can read a command line, but only its owner and root can read an environment.
struct ProgramVariables: Sendable, Equatable {
  /// `NAME=VALUE`, each name once.
  private(set) var entries: [String] = []

  /// If a name has several values, the last one counts.
  ///
  /// - Parameter entries: `NAME=VALUE`.
  init(_ entries: [String]) {
    for entry in entries {
      self.entries.removeAll { Self.name(of: $0) == Self.name(of: entry) }
      self.entries.append(entry)
    }
  }

  /// The arguments that name them to the exec shim.
  var shimArguments: [String] { entries.flatMap { ["--env", Self.name(of: $0)] } }

  private static func name(of entry: String) -> String { String(entry.prefix { $0 != "=" }) }
}
