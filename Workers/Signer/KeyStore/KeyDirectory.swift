internal import Cryptography
internal import Glibc
internal import LinuxSystem

// One file for each account, `NAME.key`, in a directory that is ours alone.
//
// A key that is lost is lost for ever, and half a key is a lost one. So a file is written under another name, brought
// to the disk, and only then given its own: whenever the process or the machine dies, there is the old state or the new
// one. What was left under the other name is removed at the next start.
//
// Two files with the same key are one too many: whichever were taken, an account could change its name because of a
// copy that somebody made. The one that was written under its name is used, and no other; where none or several say so,
// none is.
//
// A file that others could have read or changed is not used: a key of which there are copies is no key, and nobody
// should learn that by accident from a signer that went on as if nothing were.

/// The signer's key files. Everything here blocks.
public final class KeyDirectory: Sendable {
  /// Where it is.
  public let path: String
  private let lock: FileLock

  /// Most files that are read.
  public static let fileMaximum = 256
  private static let suffix = ".key"
  private static let unfinishedSuffix = ".key.new"

  /// What was found.
  public struct Contents: Sendable {
    /// The keys, by name.
    public var keys: [StoredKey] = []
    /// The files that were refused.
    public var problems: [KeyStoreFault] = []
  }

  /// Opens a directory, and makes it if it is not there, with mode 0700. It stays ours until the object goes.
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

  /// Reads all key files, and removes what a death left unfinished.
  public func load() throws(KeyStoreFault) -> Contents {
    for name in try fileNames() where name.hasSuffix(Self.unfinishedSuffix) { try removeFile(path + "/" + name) }
    return try look()
  }

  /// Reads all key files, and changes nothing.
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

  /// Leaves one file of each key, if it is certain which.
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

  /// Stores a new key: when this returns, it survives the machine.
  public func add(_ key: StoredKey) throws(KeyStoreFault) {
    let final = path + "/" + key.name + Self.suffix
    var status = stat()
    // The directory is locked: nobody else makes one between this look and the renaming.
    guard lstat(final, &status) != 0 else { throw .exists(path: final) }
    try put(key)
  }

  /// Stores a key that is there already in another form: at every moment, whatever dies, the file has the one or the
  /// other, whole.
  ///
  /// - Throws: `unreadable` when the file is not there, or holds another key; the file is as it was.
  public func replace(_ key: StoredKey) throws(KeyStoreFault) {
    let present = try read(key.name)
    guard present.publicKey == key.publicKey else {
      throw .unreadable(path: path + "/" + key.name + Self.suffix, problem: "it holds another key than a moment ago")
    }
    try put(key)
  }

  private func put(_ key: StoredKey) throws(KeyStoreFault) {
    let final = path + "/" + key.name + Self.suffix
    let unfinished = path + "/" + key.name + Self.unfinishedSuffix
    try removeFile(unfinished)
    var contents = key.contents
    defer { contents.wipe() }
    do throws(KeyStoreFault) {
      try write(contents, to: unfinished)
      guard rename(unfinished, final) == 0 else { throw fault("rename", unfinished) }
    } catch {
      // The first fault is the one to tell.
      unlink(unfinished)
      throw error
    }
    try synchronizeDirectory()
  }

  /// Removes a key for good.
  public func remove(_ name: String) throws(KeyStoreFault) {
    try removeFile(path + "/" + name + Self.suffix)
    try synchronizeDirectory()
  }

  private func write(_ contents: [UInt8], to file: String) throws(KeyStoreFault) {
    let descriptor = open(file, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw fault("open", file) }
    defer { close(descriptor) }
    // Whatever the process's mask says.
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
