/// One thing that is wrong with a configuration file, and where.
///
/// It reads as compilers speak, so that editors can jump to it:
///
///     supervisor.conf:12: [worker.relay] unknown key 'restrat'; did you mean 'restart'?
///     supervisor.conf:14: [worker.relay] stuck-after: 0s is below the least, 1s
///     supervisor.conf:3:7: expected a value
public struct ConfigurationProblem: Error, Hashable, Sendable, CustomStringConvertible {
  /// The file as the caller named it.
  public var file: String
  /// The line, counted from 1; nil when the file says nothing that could be pointed at.
  public var line: Int?
  /// The column, counted from 1; only errors of TOML's own syntax have one.
  public var column: Int?
  /// The table without its brackets, such as `worker.relay`; empty at the top of the file.
  public var table: String
  /// The key the complaint is about, with a place in brackets if it is inside an array: `relays[2]`. Nil when the
  /// message speaks of the whole table or names the key itself.
  public var key: String?
  /// What is wrong and, where it is not plain, what to write instead.
  public var message: String
  /// The valid name that resembles the one in the file, if any does.
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

  /// Control characters as TOML would write them: what stands in a file must not move the cursor of who reads about it.
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

/// Why no configuration could be had.
public enum ConfigurationError: Error, Hashable, Sendable, CustomStringConvertible {
  /// None of these files exists, in the order in which they were tried.
  case missing(tried: [String])
  /// The file is there but could not be read; the reason is for people.
  case unreadable(path: String, reason: String)
  /// The file may be changed by somebody who must not decide which programs run; the reason is for people.
  case untrusted(path: String, reason: String)
  /// The file was read, and this is wrong with it: at least one problem, sorted by line.
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
