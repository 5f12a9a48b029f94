// From a file to a configuration that is safe to act on:
//
//     path ─ find ─ may it be trusted? ─ read ─ TOML ─ schema, value by value ─ relations ─ SupervisorConfiguration
//                                          │      └── key locator (lines) ──┘
//                                          └ one ConfigurationError with all problems
//
// Reading is a function of its arguments: the environment, the directories, the way files are read and the check of
// permissions are handed in. The check is a hook because it belongs to the layer that speaks to the kernel.

/// Finds, reads and checks `supervisor.conf`.
public enum Configuration {
  /// The largest file that is read, in bytes.
  public static let fileByteCountMaximum = 1 << 20

  /// Reads the configuration.
  ///
  /// - Parameters:
  ///   - path: the file; nil tries ``ConfigurationSurroundings/searchPaths`` and takes the first that exists.
  ///   - surroundings: the process's environment and directories.
  ///   - readFile: reads a whole file; nil if there is none. Throws a reason for people.
  ///   - permissionCheck: is asked, with the absolute path of a file that exists, whether somebody else than its
  ///     rightful owner could change it; answers with the reason for a refusal, or nil.
  /// - Throws: ``ConfigurationError``; when the file has faults, all of them at once.
  public static func load(
    path: String?, surroundings: ConfigurationSurroundings,
    readFile: (String) throws(FileReading.Failure) -> [UInt8]? = FileReading.contents,
    permissionCheck: (String) -> String?
  ) throws(ConfigurationError) -> SupervisorConfiguration {
    let candidates = path.map { [$0] } ?? surroundings.searchPaths
    for candidate in candidates {
      let absolute = surroundings.absolute(candidate)
      let bytes: [UInt8]?
      do throws(FileReading.Failure) {
        bytes = try readFile(absolute)
      } catch {
        throw .unreadable(path: candidate, reason: error.reason)
      }
      guard let bytes else { continue }
      if let reason = permissionCheck(absolute) { throw .untrusted(path: candidate, reason: reason) }
      return try parse(text(of: bytes, file: candidate), file: candidate, surroundings: surroundings)
    }
    throw .missing(tried: candidates)
  }

  /// Reads a configuration from text, as if it stood in `file`; no file is touched.
  ///
  /// - Parameters:
  ///   - text: the TOML.
  ///   - file: the name for complaints; its directory is where relative paths are seen from.
  ///   - surroundings: what the configuration may ask of the machine.
  public static func parse(
    _ text: String, file: String, surroundings: ConfigurationSurroundings
  ) throws(ConfigurationError) -> SupervisorConfiguration {
    let locator = KeyLocator(text)
    let tree: [String: ConfigurationValue]
    let dates: [ConfigurationPath]
    do throws(ConfigurationProblem) {
      (tree, dates) = try TOMLReading.tree(of: text, file: file, locator: locator)
    } catch {
      throw .problems([error])
    }
    var reader = ConfigurationReader(
      file: file, absoluteFile: surroundings.absolute(file), locator: locator, surroundings: surroundings)
    for date in dates {
      let place = date.steps.firstIndex { if case .index = $0 { true } else { false } } ?? date.steps.count
      reader.report("no setting is a date or a time", at: date, tableDepth: max(0, place - 1))
    }
    reader.read(tree)
    reader.checkRelations()
    guard reader.problems.isEmpty else { throw .problems(reader.sortedProblems) }
    return reader.configuration
  }

  private static func text(of bytes: [UInt8], file: String) throws(ConfigurationError) -> String {
    guard bytes.count <= fileByteCountMaximum else {
      throw .unreadable(path: file, reason: "\(bytes.count) bytes; at most \(fileByteCountMaximum) are read")
    }
    guard let text = String(validating: bytes, as: UTF8.self) else {
      let good = String(decoding: bytes, as: UTF8.self).prefix { $0 != "\u{FFFD}" }
      let line = good.utf8.count(where: { $0 == UInt8(ascii: "\n") }) + 1
      throw .problems([ConfigurationProblem(file: file, line: line, table: "", message: "this is not UTF-8")])
    }
    return text
  }
}
