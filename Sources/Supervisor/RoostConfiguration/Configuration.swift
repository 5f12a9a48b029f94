// From a file to a configuration that is safe to act on:
//
//     path ─ find ─ may it be trusted? ─ read ─ TOML ─ schema, value by value ─ relations ─ SupervisorConfiguration
//                                               │ └ the place of each value ──┘
//                                               └ the first fault of syntax, or all that is wrong with the meaning
//
// Reading is a function of its arguments: the caller passes the environment, the directories, the way files are read
// and the check of permissions. The check is a hook because it belongs to the layer that talks to the kernel.

/// Finds, reads and checks `supervisor.conf`.
public enum Configuration {
  /// The largest file that is read, in bytes.
  public static let fileByteCountMaximum = 1 << 20

  /// Reads the configuration.
  ///
  /// - Parameters:
  ///   - path: the file; nil tries ``ConfigurationSurroundings/searchPaths`` and takes the first that exists.
  ///   - surroundings: the process's environment and directories.
  ///   - readFile: reads a whole file; returns nil if it does not exist. Throws a reason for people.
  ///   - permissionCheck: receives the absolute path of a file that exists. Returns the reason to refuse the file if a
  ///     user other than its rightful owner could change it, else nil.
  ///   - members: returns the uids of a group's members; nil if there is no such group.
  /// - Throws: ``ConfigurationError``; when the file has faults, all of them at once.
  public static func load(
    path: String?, surroundings: ConfigurationSurroundings,
    readFile: (String) throws(FileReading.Failure) -> [UInt8]? = FileReading.contents,
    permissionCheck: (String) -> String?, members: (String) -> [UInt32]? = { _ in nil }
  ) throws(ConfigurationError) -> SupervisorConfiguration {
    var reader = try find(path, surroundings, readFile, permissionCheck)
    reader.findMembers(members)
    return try reader.verified()
  }

  /// Reads the configuration, and also reports doubts, with or without problems: what is allowed but probably not
  /// intended.
  ///
  /// - Parameters:
  ///   - path: as for ``load(path:surroundings:readFile:permissionCheck:members:)``, like the next three and `members`.
  ///   - surroundings: the process's environment and directories.
  ///   - readFile: reads a whole file.
  ///   - permissionCheck: returns the reason for a refusal.
  ///   - program: returns what is at this absolute path.
  ///   - file: returns what a look at the file with a key or a certificate at this path shows; nil if it was not
  ///     examined.
  ///   - strangers: what is wrong with this machine for programs that do jobs for strangers; nil if nothing is.
  ///   - members: returns the uids of a group's members.
  /// - Returns: the configuration or why it cannot be used, and the doubts in the order of the file.
  public static func check(
    path: String?, surroundings: ConfigurationSurroundings,
    readFile: (String) throws(FileReading.Failure) -> [UInt8]? = FileReading.contents,
    permissionCheck: (String) -> String?, program: (String) -> ProgramFinding,
    file: (String) -> SecretFileFinding? = { _ in nil }, strangers: String? = nil,
    members: (String) -> [UInt32]? = { _ in nil }
  ) -> ConfigurationVerdict {
    do throws(ConfigurationError) {
      var reader = try find(path, surroundings, readFile, permissionCheck)
      reader.findMembers(members)
      let outcome = Result { [reader] () throws(ConfigurationError) in try reader.verified() }
      let doubts = reader.doubts(program: program, secretFile: file, strangers: strangers, members: members)
      return ConfigurationVerdict(outcome: outcome, doubts: doubts)
    } catch {
      return ConfigurationVerdict(outcome: .failure(error), doubts: [])
    }
  }

  /// Finds the first file that exists and reads it as TOML. The reader has collected its problems, and not yet thrown
  /// them.
  private static func find(
    _ path: String?, _ surroundings: ConfigurationSurroundings,
    _ readFile: (String) throws(FileReading.Failure) -> [UInt8]?, _ permissionCheck: (String) -> String?
  ) throws(ConfigurationError) -> ConfigurationReader {
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
      guard bytes.count <= fileByteCountMaximum else {
        throw .unreadable(path: candidate, reason: "\(bytes.count) bytes; at most \(fileByteCountMaximum) are read")
      }
      return try parse(bytes, file: candidate, surroundings: surroundings)
    }
    throw .missing(tried: candidates)
  }

  /// Reads a configuration from text, as if it were in `file`; touches no file.
  ///
  /// - Parameters:
  ///   - text: the TOML.
  ///   - file: the name for complaints; relative paths in the text are relative to its directory.
  ///   - surroundings: the process's environment and directories.
  public static func parse(
    _ text: String, file: String, surroundings: ConfigurationSurroundings
  ) throws(ConfigurationError) -> SupervisorConfiguration {
    try parse(Array(text.utf8), file: file, surroundings: surroundings).verified()
  }

  private static func parse(
    _ bytes: [UInt8], file: String, surroundings: ConfigurationSurroundings
  ) throws(ConfigurationError) -> ConfigurationReader {
    let document: TOMLDocument
    do throws(TOMLFault) {
      document = try TOMLReader.document(of: bytes)
    } catch {
      throw .problems([
        ConfigurationProblem(
          file: file, line: error.place.line, column: error.place.column, table: "", message: error.message)
      ])
    }
    var reader = ConfigurationReader(
      file: file, absoluteFile: surroundings.absolute(file), document: document, surroundings: surroundings)
    reader.read()
    reader.checkRelations()
    return reader
  }
}
