public import Cryptography
internal import Glibc
internal import LinuxSystem

// A restore never mixes with what is there: it takes a state directory that is empty or does not exist. The whole
// backup is checked before anything is written. Then the files are written into `STATE.restoring`, which becomes STATE
// in one step; a restore that was killed leaves nothing else, and the next one begins again.

/// Restores one backup.
public struct BackupRestoring: Sendable {
  /// What a restore has done.
  public struct Outcome: Codable, Sendable, Hashable {
    /// What was restored.
    public var backup: BackupSummary
    /// The state directory.
    public var state: String
    /// Where the configuration file is; nil if the backup has none.
    public var configuration: String?
    /// Whether another configuration file was there, so that the restored one has another name.
    public var isConfigurationAside: Bool
  }

  /// The backup; `-` is standard input.
  public let path: String
  /// The directory for the workers' files.
  public let state: String
  /// Where the configuration file belongs.
  public let configuration: String

  /// The largest configuration file.
  private static let configurationByteCountMaximum = 1 << 20

  /// A restore. `state` and `configuration` are absolute.
  public init(path: String, state: String, configuration: String) {
    (self.path, self.state, self.configuration) = (path, state, configuration)
  }

  private var unfinished: String { state + ".restoring" }

  /// Restores the backup. Blocks.
  ///
  /// - Parameters:
  ///   - passphrase: called if the backup is sealed.
  ///   - progress: called with what is done, and how many bytes of the file were read.
  /// - Throws: `occupied` if the directory is not empty; nothing was changed. `unsound`, `newer`, `sealed`,
  ///   `wrongPassphrase`, `system`: no state directory was made.
  public func restore(
    passphrase: () throws(BackupFault) -> Passphrase?, progress: (_ isChecking: Bool, Int64) -> Void = { _, _ in }
  ) throws(BackupFault) -> Outcome {
    try refuseOccupied()
    let known = try checked(passphrase, progress)
    do throws(SystemFault) {
      try FolderTree.remove(unfinished)
      try PrivateDirectory.ensure(unfinished)
    } catch { throw BackupFault(.system, "\(error)") }
    do throws(BackupFault) {
      let files = RestoredFiles(unfinished)
      let input = try BackupInput(path: path) { () throws(BackupFault) in
        if let known { return known }
        return try passphrase()
      }
      let summary = try input.check(progress: { progress(false, $0) }) { name, bytes throws(BackupFault) in
        try files.take(name, bytes)
      }
      try files.finish()
      let aside = try prepareConfiguration(files.configuration, of: summary.manifest)
      try becomeState()
      let place = aside.map { placeConfiguration($0) }
      return Outcome(
        backup: summary, state: state, configuration: place,
        isConfigurationAside: place.map { $0 != configuration } ?? false)
    } catch {
      // The first fault is reported; what is left is removed by the next restore.
      _ = try? FolderTree.remove(unfinished)
      throw error
    }
  }

  /// Checks the whole backup, unless it is a pipe, which can be read only once: that is checked while it is written.
  private func checked(
    _ passphrase: () throws(BackupFault) -> Passphrase?, _ progress: (Bool, Int64) -> Void
  ) throws(BackupFault) -> Passphrase? {
    var status = stat()
    guard path != "-", stat(path, &status) != 0 || status.st_mode & S_IFMT == S_IFREG else { return nil }
    var known: Passphrase?
    let input = try BackupInput(path: path) { () throws(BackupFault) in
      known = try passphrase()
      return known
    }
    _ = try input.check(progress: { progress(true, $0) })
    return known
  }

  private func refuseOccupied() throws(BackupFault) {
    var (own, parent) = (stat(), stat())
    if lstat(state, &own) == 0, stat(state + "/..", &parent) == 0,
      own.st_mode & S_IFMT != S_IFDIR || own.st_dev != parent.st_dev
    {
      throw BackupFault(
        .occupied, "\(state) is a link, a mount point or no directory: give --state a directory below it")
    }
    guard let folder = opendir(state) else {
      if errno == ENOENT { return }
      throw .system("open", state)
    }
    defer { closedir(folder) }
    while let entry = readdir(folder) {
      let name = withUnsafeBytes(of: &entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
      guard name == "." || name == ".." else {
        throw BackupFault(
          .occupied,
          "\(state) is not empty (it has \(name)), and nothing in it is replaced: move it away, or give --state")
      }
    }
  }

  /// Writes the configuration file beside its place, before anything else is there; returns where it is. The place
  /// itself, if the same text is there; nil if the backup has none.
  private func prepareConfiguration(
    _ text: [UInt8], of manifest: BackupManifest
  ) throws(BackupFault) -> String? {
    guard manifest.configuration != nil else { return nil }
    if Self.contents(of: configuration) == text { return configuration }
    let aside = configuration + ".restored"
    unlink(aside)
    try RestoredFiles.write(text, to: aside)
    return aside
  }

  /// Gives the file its name, unless there is another one; returns where it is.
  private func placeConfiguration(_ aside: String) -> String {
    // `link` replaces nothing, also not what cannot be read.
    guard aside != configuration, link(aside, configuration) == 0 else { return aside }
    unlink(aside)
    return configuration
  }

  private static func contents(of path: String) -> [UInt8]? {
    let file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard file >= 0 else { return nil }
    defer { close(file) }
    var bytes = [UInt8](repeating: 0, count: configurationByteCountMaximum)
    let count = read(file, &bytes, bytes.count)
    return Array(bytes.prefix(max(0, count)))
  }

  private func becomeState() throws(BackupFault) {
    do throws(SystemFault) {
      for folder in [unfinished, state] where folder == unfinished || access(state, F_OK) == 0 {
        try DirectoryEntries.synchronize(folder)
      }
      // `rename` replaces a directory only if it is empty.
      guard rename(unfinished, state) == 0 else {
        throw SystemFault(call: "rename", subject: unfinished, code: errno)
      }
      try DirectoryEntries.synchronizeReadable(nameOf: state)
    } catch {
      throw BackupFault(.system, "\(error)")
    }
  }
}

/// Writes the files of a backup below a directory.
private final class RestoredFiles {
  /// The text of the configuration file.
  private(set) var configuration: [UInt8] = []

  private let directory: String
  private var current: (path: String, descriptor: Int32)?
  private var isConfiguration = false
  private var folders: Set<String> = []

  init(_ directory: String) { self.directory = directory }

  deinit { if let current { close(current.descriptor) } }

  /// Bytes of a file; nil: it begins.
  func take(_ name: String, _ bytes: ArraySlice<UInt8>?) throws(BackupFault) {
    guard let bytes else { return try begin(name) }
    if isConfiguration {
      configuration += bytes
    } else if let current {
      try Self.put(bytes, current.descriptor, current.path)
    }
  }

  private func begin(_ name: String) throws(BackupFault) {
    try end()
    isConfiguration = name == BackupManifest.configurationName
    guard !isConfiguration else { return }
    // "state/": the directory has its own name.
    let parts = name.split(separator: "/").dropFirst()
    let folder = directory + "/" + parts.dropLast().joined(separator: "/")
    if folders.insert(folder).inserted {
      do throws(SystemFault) { try PrivateDirectory.ensure(folder) } catch { throw BackupFault(.system, "\(error)") }
    }
    let path = directory + "/" + parts.joined(separator: "/")
    current = (path, try Self.make(path))
  }

  private func end() throws(BackupFault) {
    guard let (path, descriptor) = current else { return }
    current = nil
    defer { close(descriptor) }
    guard fsync(descriptor) == 0 else { throw .system("fsync", path) }
  }

  /// Waits until everything is on the disk.
  func finish() throws(BackupFault) {
    try end()
    do throws(SystemFault) { for folder in folders { try DirectoryEntries.synchronize(folder) } } catch {
      throw BackupFault(.system, "\(error)")
    }
  }

  private static func make(_ path: String) throws(BackupFault) -> Int32 {
    let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard descriptor >= 0 else { throw .system("open", path) }
    return descriptor
  }

  static func write(_ bytes: [UInt8], to path: String) throws(BackupFault) {
    let folder = path.split(separator: "/").dropLast().joined(separator: "/")
    if access("/" + folder, F_OK) != 0 {
      do throws(SystemFault) { try PrivateDirectory.ensure("/" + folder) } catch {
        throw BackupFault(.system, "\(error)")
      }
    }
    let descriptor = try make(path)
    defer { close(descriptor) }
    try put(bytes[...], descriptor, path)
    guard fsync(descriptor) == 0 else { throw .system("fsync", path) }
  }

  private static func put(_ bytes: ArraySlice<UInt8>, _ descriptor: Int32, _ path: String) throws(BackupFault) {
    var rest = bytes
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { throw .system("write", path) }
      rest = rest.dropFirst(count)
    }
  }
}
