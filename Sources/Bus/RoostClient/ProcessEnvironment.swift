internal import Glibc

/// The environment that this process was started with.
public enum ProcessEnvironment {
  /// All variables by name; an entry without `=` is left out.
  public static func current() -> [String: String] {
    var variables: [String: String] = [:]
    var next = environ
    while let entry = next.pointee {
      let text = String(cString: entry)
      if let equals = text.firstIndex(of: "=") {
        variables[String(text[..<equals])] = String(text[text.index(after: equals)...])
      }
      next += 1
    }
    return variables
  }
}
