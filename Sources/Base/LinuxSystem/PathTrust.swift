internal import CLinux
internal import Glibc

/// Whether only we or root can have written a file.
///
/// The configuration names programs to run, so a user who can write it can run anything as us. A correct mode of the
/// file itself does not help if another user can rename its directory. So every step from the root is checked, as
/// OpenSSH does in its strict modes, and also every directory that contains a symbolic link on the way.
///
/// A step that others may write to is accepted only if it is sticky, as `/tmp` is: there others can add names but not
/// replace ours. The last step, the file itself, has no such exception. Access control lists are not read: if they
/// grant write access to others, the group bits of the mode show it.
public enum PathTrust {
  /// Longest chain of symbolic links that is followed; the kernel's own limit.
  static let linkCountMaximum = 40

  /// What the path must lead to.
  public enum Kind: Sendable {
    /// A regular file.
    case file
    /// A directory.
    case directory
    /// A regular file with a secret: not even other members of our group may read it.
    case secretFile
    /// A directory that only we can access.
    case privateDirectory
  }

  /// Checks a path from the root to its end.
  /// - Parameters:
  ///   - path: absolute, or relative to the working directory.
  ///   - kind: what must be at its end.
  ///   - owner: the trusted user in addition to root; nil for the effective user.
  /// - Throws: `EPERM` with a sentence that names the step and what to change; `ENOENT` and others from `lstat`.
  public static func check(_ path: String, is kind: Kind, owner: UInt32? = nil) throws(SystemFault) {
    var walk = Walk(path: try absolute(path), owner: owner ?? geteuid())
    try walk.toTheEnd(kind)
  }

  private static func absolute(_ path: String) throws(SystemFault) -> String {
    if path.hasPrefix("/") { return path }
    guard let text = getcwd(nil, 0) else { throw SystemFault(call: "getcwd", subject: "", code: errno) }
    defer { free(text) }
    return "\(String(cString: text))/\(path)"
  }
}

/// One walk along a path, one name at a time, with links replaced by their targets.
private struct Walk {
  private let path: String
  private let owner: UInt32
  /// The directories passed, from the root.
  private var passed: [Substring] = []
  /// The names still ahead, the next one last.
  private var ahead: [Substring]
  private var linkCount = 0

  init(path: String, owner: UInt32) {
    self.path = path
    self.owner = owner
    ahead = path.split(separator: "/").reversed()
  }

  mutating func toTheEnd(_ kind: PathTrust.Kind) throws(SystemFault) {
    var status = try look("/")
    while let name = ahead.popLast() {
      try checkParent("/" + passed.joined(separator: "/"), status)
      switch name {
      case ".": continue
      case "..": _ = passed.popLast()
      default: passed.append(name)
      }
      let here = "/" + passed.joined(separator: "/")
      status = try look(here)
      if status.st_mode & S_IFMT == S_IFLNK {
        try follow(here, status)
        status = try look("/" + passed.joined(separator: "/"))
      }
    }
    try checkEnd("/" + passed.joined(separator: "/"), status, kind)
  }

  private func look(_ step: String) throws(SystemFault) -> stat {
    var status = stat()
    guard lstat(step, &status) == 0 else { throw SystemFault(call: "lstat", subject: step, code: errno) }
    return status
  }

  private mutating func follow(_ link: String, _ status: stat) throws(SystemFault) {
    try checkOwner(link, status)
    linkCount += 1
    guard linkCount <= PathTrust.linkCountMaximum else {
      throw SystemFault(call: "readlink", subject: path, code: ELOOP)
    }
    var bytes = [CChar](repeating: 0, count: Int(PATH_MAX) + 1)
    let count = readlink(link, &bytes, Int(PATH_MAX))
    guard count >= 0 else { throw SystemFault(call: "readlink", subject: link, code: errno) }
    let target = String(decoding: bytes[..<count].map(UInt8.init(bitPattern:)), as: UTF8.self)
    if target.hasPrefix("/") { passed = [] } else { _ = passed.popLast() }
    ahead += target.split(separator: "/").reversed()
  }

  private func checkOwner(_ step: String, _ status: stat) throws(SystemFault) {
    guard status.st_uid == owner || status.st_uid == 0 else {
      throw refusal(step, "It belongs to user \(status.st_uid), who could change it. Give it to user \(owner).")
    }
  }

  private func checkParent(_ step: String, _ status: stat) throws(SystemFault) {
    guard status.st_mode & S_IFMT == S_IFDIR else { throw SystemFault(call: "lstat", subject: step, code: ENOTDIR) }
    try checkOwner(step, status)
    let isWritable = status.st_mode & (S_IWGRP | S_IWOTH) != 0
    let isSticky = status.st_mode & S_ISVTX != 0
    guard !isWritable || isSticky else {
      throw refusal(step, "Others may write to this directory and so replace what is in it: chmod go-w \(step)")
    }
  }

  private func checkEnd(_ step: String, _ status: stat, _ kind: PathTrust.Kind) throws(SystemFault) {
    let type = status.st_mode & S_IFMT
    switch kind {
    case .file, .secretFile:
      guard type == S_IFREG else { throw refusal(step, "It is not a regular file.") }
    case .directory, .privateDirectory:
      guard type == S_IFDIR else { throw SystemFault(call: "lstat", subject: step, code: ENOTDIR) }
    }
    try checkOwner(step, status)
    guard status.st_mode & (S_IWGRP | S_IWOTH) == 0 else {
      throw refusal(step, "Others may write to it: chmod go-w \(step)")
    }
    switch kind {
    case .file, .directory: return
    case .secretFile, .privateDirectory:
      guard status.st_mode & (S_IRWXG | S_IRWXO) == 0 else {
        throw refusal(step, "Others have access to it: chmod go-rwx \(step)")
      }
    }
  }

  private func refusal(_ step: String, _ advice: String) -> SystemFault {
    SystemFault(call: "trust", subject: step, code: EPERM, advice: advice, isOwnCheck: true)
  }
}
