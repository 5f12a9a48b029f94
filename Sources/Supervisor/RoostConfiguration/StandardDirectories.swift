/// The process's environment and directories, passed in so that reading the configuration is a function of its
/// arguments.
public struct ConfigurationSurroundings: Sendable, Hashable {
  /// The process's environment.
  public var environment: [String: String]
  /// The working directory, absolute.
  public var currentDirectory: String
  /// The directory that contains roostd's own executable, absolute.
  public var programDirectory: String

  /// Bundles the three.
  public init(environment: [String: String], currentDirectory: String, programDirectory: String) {
    self.environment = environment
    self.currentDirectory = currentDirectory
    self.programDirectory = programDirectory
  }

  /// The files that are tried when the caller names none, best first: `supervisor.conf` in the working directory (a
  /// checkout), then `roost/supervisor.conf` under the user's and the system's configuration directories, then under
  /// `/etc`.
  public var searchPaths: [String] {
    let directories = [configurationHome].compactMap { $0 } + configurationDirectories + ["/etc"]
    return [currentDirectory + "/supervisor.conf"] + directories.map { $0 + "/roost/supervisor.conf" }
  }

  /// `path`, taken relative to `directory` or, if that is nil, to the working directory.
  func absolute(_ path: String, in directory: String? = nil) -> String {
    if path == "~" || path.hasPrefix("~/"), let home = absoluteVariable("HOME") {
      return FilePaths.normalized(home + path.dropFirst())
    }
    return FilePaths.normalized(path.hasPrefix("/") ? path : (directory ?? currentDirectory) + "/" + path)
  }

  /// The XDG rule: a relative path in one of its variables is ignored.
  func absoluteVariable(_ name: String) -> String? {
    guard let value = environment[name], value.hasPrefix("/") else { return nil }
    return FilePaths.normalized(value)
  }

  /// `$XDG_CONFIG_HOME`, or its default below the home directory.
  var configurationHome: String? {
    absoluteVariable("XDG_CONFIG_HOME") ?? absoluteVariable("HOME").map { $0 + "/.config" }
  }

  /// `$XDG_CONFIG_DIRS`, or its default.
  var configurationDirectories: [String] {
    let listed = (environment["XDG_CONFIG_DIRS"] ?? "").split(separator: ":").map(String.init)
    let usable = listed.filter { $0.hasPrefix("/") }.map(FilePaths.normalized)
    return usable.isEmpty ? ["/etc/xdg"] : usable
  }
}

/// The default places of what the file does not place.
///
/// | the file is | state | run | logs |
/// |---|---|---|---|
/// | under a configuration directory | `$XDG_STATE_HOME/roost` | `$XDG_RUNTIME_DIR/roost` | `logs` in state |
/// | anywhere else: a checkout | `run/state` beside it | `run` beside it | `logs` in run |
///
/// Without `XDG_RUNTIME_DIR`, as on a machine without a login manager, the run directory is `run` in the state
/// directory.
public struct StandardDirectories: Sendable, Hashable {
  /// Whether the file is in a checkout, with everything else beside it.
  public var isCheckout: Bool
  /// The default of `state-directory`.
  public var state: String
  /// The default of `run-directory`.
  public var run: String
  /// The directory of roostd, the default of `program-directories`.
  public var programs: String

  /// Lays out the defaults for the file at this absolute path.
  public init(file: String, surroundings: ConfigurationSurroundings) {
    let directory = FilePaths.directory(of: file)
    let configurationDirectories =
      [surroundings.configurationHome].compactMap { $0 } + surroundings.configurationDirectories
      + ["/etc", "/usr/local/etc"]
    programs = surroundings.programDirectory
    isCheckout = !configurationDirectories.contains { directory == $0 || directory.hasPrefix($0 + "/") }
    if isCheckout {
      run = FilePaths.normalized(directory + "/run")
      state = FilePaths.normalized(directory + "/run/state")
    } else {
      // A process without even HOME is a system service; its state belongs where such services keep theirs.
      let stateHome =
        surroundings.absoluteVariable("XDG_STATE_HOME")
        ?? surroundings.absoluteVariable("HOME").map { $0 + "/.local/state" } ?? "/var/lib"
      state = stateHome + "/roost"
      run = surroundings.absoluteVariable("XDG_RUNTIME_DIR").map { $0 + "/roost" } ?? stateHome + "/roost/run"
    }
  }

  /// The default of `log-directory`, once the other two are known.
  func logs(state: String, run: String) -> String { (isCheckout ? run : state) + "/logs" }
}

/// Paths as text; the file system is not consulted.
enum FilePaths {
  /// `path` without `.`, `..`, doubled and trailing slashes. `..` is removed in the text, not through symbolic links.
  static func normalized(_ path: String) -> String {
    var parts: [Substring] = []
    for part in path.split(separator: "/") where part != "." {
      if part == ".." { _ = parts.popLast() } else { parts.append(part) }
    }
    return "/" + parts.joined(separator: "/")
  }

  /// An absolute path without its last part.
  static func directory(of path: String) -> String {
    normalized(path + "/..")
  }
}
