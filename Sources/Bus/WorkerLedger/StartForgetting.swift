public import Contracts
internal import EventLoop
internal import Frames
internal import Glibc
internal import LinuxSystem
internal import Logging
public import Storage
public import WorkerKit

// How a worker forgets an account whose machine has the account's things in memory (`account.forget`). To take them out
// of the machine step by step would be a second way to end everything that it does; so the worker starts again instead:
//
//     request ─▶ something is there ─▶ note in the directory ─▶ the process ends
//     start ─▶ note ─▶ rows removed, file scrubbed ─▶ note removed ─▶ the machine is made of the rest
//     request, again ─▶ nothing is there ─▶ answered with what the start has removed
//
// The hub delivers the request again after the end of the process. A death at any moment repeats one of the steps.

/// What a start has removed.
public struct ForgottenAtStart: Sendable {
  /// The account, 64 hexadecimal digits; nil: there was no note.
  public var account: String?
  /// What was removed of it.
  public var parts: [AccountForgotten.Part] = []

  /// Nothing.
  public init() {}
}

/// The note of the account that the next start forgets: a file `forget` with its key, in the worker's directory.
public struct ForgettingNote: Sendable {
  private let path: String

  /// The note of a worker.
  ///
  /// - Parameter directory: the worker's directory.
  public init(in directory: String) { path = directory + "/forget" }

  /// Removes the noted account, if there is a note, and then the note. Blocks this thread.
  ///
  /// - Parameter remove: removes everything of the account, and its traces in the file.
  public func settle(
    _ remove: (_ account: String) throws(StorageFault) -> [AccountForgotten.Part]
  ) throws(StorageFault) -> ForgottenAtStart {
    var forgotten = ForgottenAtStart()
    guard let account = try read() else { return forgotten }
    forgotten.parts = try remove(account)
    forgotten.account = account
    guard unlink(path) == 0 || errno == ENOENT else {
      throw StorageFault(SystemFault(call: "unlink", subject: path, code: errno), path: path)
    }
    return forgotten
  }

  private func read() throws(StorageFault) -> String? {
    let file = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC)
    guard file >= 0 else {
      if errno == ENOENT { return nil }
      throw StorageFault(SystemFault(call: "open", subject: path, code: errno), path: path)
    }
    defer { close(file) }
    var bytes = [UInt8](repeating: 0, count: Self.byteCount)
    guard Glibc.read(file, &bytes, Self.byteCount) == Self.byteCount else { return nil }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Writes the note; when this returns, it survives a loss of power.
  func write(_ account: String) throws(StorageFault) {
    do throws(SystemFault) { try writeNow(account) } catch { throw StorageFault(error, path: path) }
  }

  private func writeNow(_ account: String) throws(SystemFault) {
    let file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0o600)
    guard file >= 0 else { throw SystemFault(call: "open", subject: path, code: errno) }
    defer { close(file) }
    try Descriptors.writeAll(account, to: file)
    guard fsync(file) == 0 else { throw SystemFault(call: "fsync", subject: path, code: errno) }
    try DirectoryEntries.synchronize(nameOf: path)
  }

  /// The digits of a key.
  private static let byteCount = 64
}

extension Worker {
  /// Serves `account.forget` by a start.
  ///
  /// - Parameters:
  ///   - directory: the worker's directory.
  ///   - forgotten: what this start has removed.
  ///   - count: how many things of an account there are.
  ///   - file: the ledger, whose traces of removed rows are removed.
  public func serveForgetting(
    in directory: String, _ forgotten: ForgottenAtStart, of file: StorageFile,
    count: @escaping @EventLoopActor (_ account: String) async throws(StorageFault) -> Int
  ) {
    serve(AccountMethod.forget) { [self] (_, wanted) throws(Refusal) in
      guard wanted.account.utf8.count == 64, Self.isHexadecimal(wanted.account) else {
        throw Refusal(.badRequest, "'account' is no public key", outcome: .notStarted)
      }
      do throws(StorageFault) {
        guard try await count(wanted.account) == 0 else { try startAgain(toForget: wanted.account, in: directory) }
        _ = try await file.scrub()
      } catch {
        let code: RefusalCode = error.kind == .full ? .diskFull : error.mayPass ? .unavailable : .failed
        throw Refusal(code, error.description, outcome: .notStarted)
      }
      return AccountForgotten(forgotten.account == wanted.account ? forgotten.parts : [])
    }
  }

  private static func isHexadecimal(_ text: String) -> Bool {
    let (digits, letters) = (UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"))
    return text.utf8.allSatisfy { digits.contains($0) || letters.contains($0) }
  }

  private func startAgain(toForget account: String, in directory: String) throws(StorageFault) -> Never {
    // Without the note the next start would find the account again, and end again.
    try ForgettingNote(in: directory).write(account)
    log.notice("starting again to forget an account")
    exit(Self.againExitCode)
  }

  /// Exit code for a start that is wanted (EX_TEMPFAIL).
  private static let againExitCode: Int32 = 75
}
