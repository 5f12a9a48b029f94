internal import Glibc
public import LinuxSystem
internal import Nostr

/// Why a key was not read, written or removed. Contains no keys and no passphrases.
public enum KeyStoreFault: Error, Hashable, Sendable, CustomStringConvertible {
  /// A system call failed.
  case system(SystemFault)
  /// Other users could read or change the file, it is not a plain file of the signer's user, or it is a copy. The last
  /// text is what to do.
  case untrusted(path: String, reason: String, remedy: String)
  /// The contents are invalid; the second text says why.
  case unreadable(path: String, problem: String)
  /// A file of this name exists.
  case exists(path: String)
  /// Another process has locked the directory.
  case inUse(path: String, holder: String)

  /// Whether it may pass without action, see `SystemFault.mayPass`.
  public var mayPass: Bool { if case .system(let fault) = self { fault.mayPass } else { false } }

  /// The file or directory concerned.
  public var path: String {
    switch self {
    case .system(let fault): fault.subject
    case .untrusted(let path, _, _), .unreadable(let path, _), .exists(let path), .inUse(let path, _): path
    }
  }

  /// The reason, without the path.
  public var reason: String {
    switch self {
    case .system(let fault): SystemFault(call: fault.call, subject: "", code: fault.code).description
    case .untrusted(_, let reason, _): reason
    case .unreadable(_, let problem): "it cannot be read as a key: \(problem)"
    case .exists: "it is there already"
    case .inUse(_, let holder): "in use by \(holder)"
    }
  }

  /// What the owner of the file can do.
  public var remedy: String {
    switch self {
    case .system(let fault) where fault.code == EACCES: "chown \(geteuid()) '\(path)'; chmod 600 '\(path)'"
    case .system: "mend that, or move the file to another directory"
    case .untrusted(_, _, let remedy): remedy
    case .unreadable: "restore it from a backup, or move it away: mv '\(path)' '\(path).damaged'"
    case .exists: "move it to another directory, or take another name"
    case .inUse: "end the other signer"
    }
  }

  /// The fault as a sentence.
  public var description: String {
    switch self {
    case .system(let fault): "\(fault)"
    case .untrusted(let path, let reason, let remedy): "\(path) is not used: \(reason); \(remedy)"
    case .unreadable(let path, let problem): "\(path) cannot be read as a key: \(problem); \(remedy)"
    case .exists(let path): "\(path) is there already, and a key is never written over"
    case .inUse(let path, let holder):
      "the keys in \(path) are in use by another process (\(holder)); two signers must not share a directory"
    }
  }
}
