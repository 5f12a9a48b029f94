internal import Cryptography
internal import Glibc
internal import LinuxSystem

// One file for each account, `NAME.key`, in a directory that only the signer's user can access.
//
// A lost key cannot be recovered, and half a key is lost. So a file is written under another name, flushed to the disk,
// and then renamed: after a crash of the process or the machine, either the old or the new state is there. The next
// start removes files with the other name.
//
// If several files have the same key, a choice among them could rename an account because of a copy. So only the file
// whose name matches its `account` line is used; if no file or several files match, none of them is used.
//
// A file that other users could read or change is not used: others may have copied the key, and the signer must report
// that instead of using the key.

/// The signer's key files. All functions block.
public final class KeyDirectory: Sendable {
  /// The directory's path.
  public let path: String
  private let lock: FileLock

  /// Most key files that are read.
  public static let fileMaximum = 256
  private static let suffix = ".key"
  private static let newSuffix = ".new"

  /// The result of reading the directory.
  public struct Contents: Sendable {
    /// The keys, by name.
    public var keys: [StoredKey] = []
    /// The files that were refused.
    public var problems: [KeyStoreFault] = []
  }

  /// Opens a directory, and creates it with mode 0700 if it does not exist. It stays locked as long as this object
  /// lives.
  public init(path: String) throws(KeyStoreFault) {
    self.path = path
    let attempt: FileLock.Attempt
    do throws(SystemFault) {
      try PrivateDirectory.ensure(path)
      attempt = try FileLock.attempt(path: path + "/lock", information: "signer, pid \(getpid())")
    } catch {
      throw .system(error)
    }
    switch attempt {
    case .acquired(let lock): self.lock = lock
    case .held(let holder): throw .inUse(path: path, holder: holder)
    }
  }

  // MARK: Reading

  /// Reads all key files, and removes the unfinished files of a crash.
  public func load() throws(KeyStoreFault) -> Contents {
    for name in try fileNames() where name.hasSuffix(Self.newSuffix) { try removeFile(path + "/" + name) }
    return try look()
  }

  /// Reads all key files without changing anything.
  public func look() throws(KeyStoreFault) -> Contents {
    var contents = Contents()
    let names = try fileNames()
    let files = names.filter { $0.hasSuffix(Self.suffix) }.sorted()
    for file in files.prefix(Self.fileMaximum) {
      do throws(KeyStoreFault) { contents.keys.append(try read(String(file.dropLast(Self.suffix.count)))) } catch {
        contents.problems.append(error)
      }
    }
    if files.count > Self.fileMaximum {
      contents.problems.append(
        .untrusted(
          path: path, reason: "it holds \(files.count) keys, and \(Self.fileMaximum) at most are read",
          remedy: "move some to another directory"))
    }
    Self.refuseCopies(&contents, in: path)
    return contents
  }

  /// The names of the key files that are in use, for a backup.
  public func names() throws(KeyStoreFault) -> [String] { try look().keys.map { $0.name + Self.suffix } }

  /// A key file as it is, for a backup.
  public func bytes(of name: String) throws(KeyStoreFault) -> [UInt8] {
    try SecretFile.read(path + "/" + name) { (bytes) throws(SecretTextFault) in Array(bytes) }
  }

  /// Leaves one file for each key if the original is certain, else no file.
  private static func refuseCopies(_ contents: inout Contents, in path: String) {
    for (_, keys) in Dictionary(grouping: contents.keys, by: \.publicKey) where keys.count > 1 {
      let originals = keys.filter { $0.writtenFor == $0.name }.map(\.name)
      let original = originals.count == 1 ? originals.first : nil
      for key in keys where key.name != original {
        let others = keys.map { $0.name + suffix }.filter { $0 != key.name + suffix }.joined(separator: ", ")
        let fault: (reason: String, remedy: String) =
          if let original {
            ("it is a copy of \(original)\(suffix)", "move it to another directory")
          } else {
            ("\(others) has the same key, and which is the copy cannot be told", "leave one of them here")
          }
        contents.problems.append(
          .untrusted(path: path + "/" + key.name + suffix, reason: fault.reason, remedy: fault.remedy))
      }
      contents.keys.removeAll { key in key.name != original && keys.contains { $0.name == key.name } }
    }
    contents.problems.sort { $0.description < $1.description }
  }

  private func fileNames() throws(KeyStoreFault) -> [String] {
    guard let folder = opendir(path) else { throw fault("opendir", path) }
    defer { closedir(folder) }
    var names: [String] = []
    while let entry = readdir(folder) {
      names.append(
        withUnsafeBytes(of: &entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) })
    }
    return names
  }

  private func read(_ name: String) throws(KeyStoreFault) -> StoredKey {
    let file = path + "/" + name + Self.suffix
    return try SecretFile.read(file) { bytes throws(SecretTextFault) in try StoredKey(name: name, contents: bytes) }
  }

  // MARK: Writing

  /// Stores a new key. When this returns, the key survives a crash of the machine.
  public func add(_ key: StoredKey) throws(KeyStoreFault) {
    let final = path + "/" + key.name + Self.suffix
    var status = stat()
    // The directory is locked, so no other process creates the file between this check and the renaming.
    guard lstat(final, &status) != 0 else { throw .exists(path: final) }
    try put(key)
  }

  /// Replaces the file of a key with another form. After a crash at any moment, the file has the old or the new form,
  /// complete.
  ///
  /// - Throws: `unreadable` when the file does not exist, or holds another key; the file does not change.
  public func replace(_ key: StoredKey) throws(KeyStoreFault) {
    let present = try read(key.name)
    guard present.publicKey == key.publicKey else {
      throw .unreadable(path: path + "/" + key.name + Self.suffix, problem: "it holds another key than a moment ago")
    }
    try put(key)
  }

  private func put(_ key: StoredKey) throws(KeyStoreFault) {
    var contents = key.contents
    defer { contents.wipe() }
    try put(contents, named: key.name + Self.suffix)
  }

  func put(_ contents: [UInt8], named name: String) throws(KeyStoreFault) {
    let final = path + "/" + name
    let unfinished = final + Self.newSuffix
    try removeFile(unfinished)
    do throws(KeyStoreFault) {
      try write(contents, to: unfinished)
      guard rename(unfinished, final) == 0 else { throw fault("rename", unfinished) }
    } catch {
      // Report the first fault, not one of `unlink`.
      unlink(unfinished)
      throw error
    }
    try synchronizeDirectory()
  }

  /// Removes a key permanently.
  public func remove(_ name: String) throws(KeyStoreFault) {
    try removeFile(path + "/" + name + Self.suffix)
    try synchronizeDirectory()
  }

  private func write(_ contents: [UInt8], to file: String) throws(KeyStoreFault) {
    let descriptor = open(file, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw fault("open", file) }
    defer { close(descriptor) }
    // Independent of the process's umask.
    guard fchmod(descriptor, 0o600) == 0 else { throw fault("fchmod", file) }
    let result = contents.withUnsafeBytes { bytes -> Result<Void, SystemFault> in
      do throws(SystemFault) { return .success(try Descriptors.writeAll(bytes, to: descriptor)) } catch {
        return .failure(error)
      }
    }
    do throws(SystemFault) { try result.get() } catch {
      throw .system(SystemFault(call: error.call, subject: file, code: error.code, advice: error.advice))
    }
    guard fsync(descriptor) == 0 else { throw fault("fsync", file) }
  }

  private func synchronizeDirectory() throws(KeyStoreFault) {
    do throws(SystemFault) { try DirectoryEntries.synchronize(path) } catch { throw .system(error) }
  }

  private func removeFile(_ file: String) throws(KeyStoreFault) {
    guard unlink(file) == 0 || errno == ENOENT else { throw fault("unlink", file) }
  }

  private func fault(_ call: String, _ subject: String) -> KeyStoreFault {
    .system(SystemFault(call: call, subject: subject, code: errno))
  }
}
