/// One thing that is wrong with a configuration file, and where.
///
/// Its text has the form of a compiler's message, so that editors can jump to the place:
///
///     supervisor.conf:12: [worker.relay] unknown key 'restrat'; did you mean 'restart'?
///     supervisor.conf:14: [worker.relay] stuck-after: 0s is below the least, 1s
///     supervisor.conf:3:7: expected a value
public struct ConfigurationProblem: Error, Hashable, Sendable, CustomStringConvertible {
  /// The file as the caller named it.
  public var file: String
  /// The line, counted from 1; nil if no place in the file can be named.
  public var line: Int?
  /// The column, counted from 1; only errors of TOML's own syntax have one.
  public var column: Int?
  /// The table without its brackets, such as `worker.relay`; empty at the top of the file.
  public var table: String
  /// The key that the complaint is about, with an index in brackets if it is inside an array: `relays[2]`. Nil if the
  /// message is about the whole table or names the key itself.
  public var key: String?
  /// What is wrong and, where it is not obvious, what to write instead.
  public var message: String
  /// The valid name that resembles the one in the file, if there is one.
  public var nearest: String?

  /// The whole complaint on one line.
  public var description: String {
    var result = file
    if let line { result += ":\(line)" }
    if let column { result += ":\(column)" }
    result += ":"
    if !table.isEmpty { result += " [\(table)]" }
    if let key { result += " \(key):" }
    result += " \(message)"
    if let nearest { result += "; did you mean '\(nearest)'?" }
    return Self.visible(result)
  }

  /// Replaces control characters by TOML's escapes: text from a file must not move the cursor of a terminal.
  private static func visible(_ text: String) -> String {
    guard text.unicodeScalars.contains(where: isControl) else { return text }
    return text.unicodeScalars.map { scalar in
      guard isControl(scalar) else { return String(scalar) }
      let digits = String(scalar.value, radix: 16, uppercase: true)
      return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
    }.joined()
  }

  private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
    scalar.value < 0x20 || (0x7F...0x9F).contains(scalar.value)
  }
}

/// Why there is no configuration.
public enum ConfigurationError: Error, Hashable, Sendable, CustomStringConvertible {
  /// None of these files exists, in the order in which they were tried.
  case missing(tried: [String])
  /// The file exists but could not be read; the reason is for people.
  case unreadable(path: String, reason: String)
  /// A user who must not decide which programs run could change the file; the reason is for people.
  case untrusted(path: String, reason: String)
  /// The file was read and has these problems: at least one, sorted by line.
  case problems([ConfigurationProblem])

  /// The text for standard error: one line per problem.
  public var description: String {
    switch self {
    case .missing(let tried) where tried.count == 1:
      "there is no configuration file \(tried[0]); write it, or name another with --config"
    case .missing(let tried):
      "no configuration file; tried:\n" + tried.map { "  \($0)" }.joined(separator: "\n")
        + "\nWrite one of them, or name another with --config."
    case .unreadable(let path, let reason): "\(path): cannot be read: \(reason)"
    case .untrusted(let path, let reason):
      "\(path): refused: \(reason.hasSuffix(".") ? reason : reason + ".") The file names programs to run, so only its owner may be able to change it."
    case .problems(let problems): problems.map(\.description).joined(separator: "\n")
    }
  }
}
