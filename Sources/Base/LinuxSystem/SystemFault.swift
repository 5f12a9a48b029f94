internal import CLinux
internal import Glibc

/// The one error of this module: the system refused something.
///
/// It says which call failed, on what, with which error number, and has a sentence for the person who reads it. Some
/// checks of our own are reported in the same form, with the number that fits best, so that a caller has one kind of
/// failure to show.
public struct SystemFault: Error, Hashable, Sendable, CustomStringConvertible {
  /// The system call or check, such as `open` or `flock`.
  public var call: String
  /// What it worked on: a path, a process id, a descriptor.
  public var subject: String
  /// The error number (`errno`).
  public var code: Int32
  /// What it means here and what to do, in sentences. May be empty.
  public var advice: String
  /// Whether a check of our own refused, not the system. Then call and number are for programs only; `advice` says all
  /// that a person needs.
  public var isOwnCheck: Bool

  /// A fault from its parts; `code` is a positive error number.
  public init(call: String, subject: String, code: Int32, advice: String = "", isOwnCheck: Bool = false) {
    self.call = call
    self.subject = subject
    self.code = code
    self.advice = advice
    self.isOwnCheck = isOwnCheck
  }

  /// Whether the failure may pass without help: the system lacks room, memory or descriptors, or a disk failed. The
  /// request is not at fault, and is worth a retry.
  public var mayPass: Bool { !isOwnCheck && Self.mayPass(code) }

  /// The same for an error number.
  public static func mayPass(_ code: Int32) -> Bool {
    [EMFILE, ENFILE, EAGAIN, ENOMEM, ENOBUFS, ENOSPC, EDQUOT, EIO, EINTR, ETIMEDOUT].contains(code)
  }

  /// The error number's name, such as `EACCES`.
  public var name: String {
    guard let text = strerrorname_np(code) else { return "error \(code)" }
    return String(cString: text)
  }

  /// `open /run/roost/lock: Permission denied (EACCES). Check the owner and the mode.` For a check of our own without
  /// call and number: `/srv/keys: It is not a regular file.`
  public var description: String {
    if isOwnCheck { return "\(subject): \(advice)" }
    let meaning = strerrordesc_np(code).map { String(cString: $0) } ?? "unknown error"
    let what = subject.isEmpty ? call : "\(call) \(subject)"
    return advice.isEmpty ? "\(what): \(meaning) (\(name))" : "\(what): \(meaning) (\(name)). \(advice)"
  }
}

/// Turns the result of a shim function, negative for an error number, into a value or a fault.
@discardableResult
func checked(
  _ result: Int32, _ call: String, _ subject: @autoclosure () -> String, _ advice: @autoclosure () -> String = ""
) throws(SystemFault) -> Int32 {
  guard result < 0 else { return result }
  throw SystemFault(call: call, subject: subject(), code: -result, advice: advice())
}
