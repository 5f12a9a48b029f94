internal import Glibc
public import LinuxSystem
internal import Nostr

/// Why a key was not read, written or removed. Says nothing of keys and passphrases.
public enum KeyStoreFault: Error, Hashable, Sendable, CustomStringConvertible {
  /// The system refused something.
  case system(SystemFault)
  /// Others could read or change the file, it is not a plain file of ours, or it is a copy; the last text says what to
  /// do.
  case untrusted(path: String, reason: String, remedy: String)
  /// The file is not what it should be; the second text says what is wrong.
  case unreadable(path: String, problem: String)
  /// There is a file of this name already.
  case exists(path: String)
  /// Another process has the directory.
  case inUse(path: String, holder: String)

  /// Whether it may pass by itself, see `SystemFault.mayPass`.
  public var mayPass: Bool { if case .system(let fault) = self { fault.mayPass } else { false } }

  /// The file or directory that it is about.
  public var path: String {
    switch self {
    case .system(let fault): fault.subject
    case .untrusted(let path, _, _), .unreadable(let path, _), .exists(let path), .inUse(let path, _): path
    }
  }

  /// What is wrong, without the path.
  public var reason: String {
    switch self {
    case .system(let fault): SystemFault(call: fault.call, subject: "", code: fault.code).description
    case .untrusted(_, let reason, _): reason
    case .unreadable(_, let problem): "it cannot be read as a key: \(problem)"
    case .exists: "it is there already"
    case .inUse(_, let holder): "in use by \(holder)"
    }
  }

  /// What to do about it, for whoever owns the file.
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

  /// A sentence.
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
