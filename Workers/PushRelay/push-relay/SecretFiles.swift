import Contracts
import Cryptography
import Frames
import Glibc
import LinuxSystem
import PushLedger
import WorkerKit

/// Files with the relay's own secrets: the key ring for tokens, and the relay's key for Web Push.
///
/// Only their owner may read them: a file that others can read is refused, since it may already have been read. The
/// ring's text is wiped when its keys are made; keys in PEM are read by a library that takes texts.
enum SecretFiles {
  /// Most bytes of such a file.
  private static let byteCountMaximum = 64 << 10

  /// The ring; if it is missing in the worker's own directory, it is made with one key.
  ///
  /// - Parameters:
  ///   - file: the file in the settings; nil for the worker's own.
  ///   - directory: the worker's.
  ///   - ledger: the file whose tokens are under the ring; if it exists, no ring is made.
  static func ring(
    _ file: String?, in directory: String, ledger: String, date: String
  ) throws(Refusal) -> TokenKeyRing {
    let path = file ?? directory + "/" + ringName
    if file == nil, access(path, F_OK) != 0 {
      // A new ring would open nothing in the ledger, and hide that the right one is missing.
      guard access(ledger, F_OK) != 0 else {
        throw Refusal(
          .failed,
          "the key ring, \(path), is gone, and what \(ledger) keeps is under its keys: put your copy of it back;"
            + " without one, move \(ledger) away, and every phone has to register again")
      }
      var made = newRing(date)
      defer { made.wipe() }
      try write(made, to: path)
    }
    var bytes = try read(path, what: "the key ring")
    defer { bytes.wipe() }
    let ring: TokenKeyRing
    do throws(TokenKeyRingProblem) { ring = try TokenKeyRing(bytes) } catch {
      throw Refusal(.failed, "\(path): \(error)")
    }
    try keep(path)
    return ring
  }

  /// Syncs a file, which may have been written just now, to the disk: from now on tokens are encrypted under the ring,
  /// and could reach the disk before it.
  private static func keep(_ path: String) throws(Refusal) {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw Refusal(.failed, "\(path) cannot be read: \(errorText)") }
    defer { close(descriptor) }
    // On a read-only file system the file is already on the disk.
    guard fsync(descriptor) == 0 || errno == EROFS || errno == EINVAL else {
      throw Refusal(.unavailable, "\(path) cannot be brought to the disk: \(errorText)")
    }
    do throws(SystemFault) { try DirectoryEntries.synchronize(nameOf: path) } catch {
      // If the worker may not read the directory, the file is the operator's, who must sync it.
      guard error.code == EACCES || error.code == EROFS else {
        throw Refusal(.unavailable, "\(path) cannot be brought to the disk: \(error)")
      }
    }
  }

  /// A ring of one key; the caller wipes it.
  private static func newRing(_ date: String) -> [UInt8] {
    let beginning = """
      # Keys under which push tokens are encrypted, the newest first. Without them every phone has to register again.
      # For a new one put a line on top, and type: roost push rekey
      \(date):
      """
    var key = RandomBytes.make(32)
    var letters = Base64.letters(of: key)
    defer {
      key.wipe()
      letters.wipe()
    }
    // With room for everything: an array that grows leaves a copy behind.
    var text: [UInt8] = []
    text.reserveCapacity(beginning.utf8.count + letters.count + 1)
    text += Array(beginning.utf8)
    text += letters
    text.append(UInt8(ascii: "\n"))
    return text
  }

  /// The path of the key that signs for Web Push.
  static func webPushPath(in directory: String) -> String { directory + "/" + webPushName }

  /// The key that signs for Web Push (RFC 8292); made if it is missing. With another key all subscriptions end.
  static func webPushKey(in directory: String) throws(Refusal) -> P256SecretKey {
    let path = webPushPath(in: directory)
    if access(path, F_OK) != 0 { try write(Array(P256SecretKey.generate().pem.utf8), to: path) }
    let bytes = try read(path, what: "the key for Web Push")
    guard let key = P256SecretKey(pem: String(decoding: bytes, as: UTF8.self)) else {
      throw Refusal(.failed, "\(path) holds no P-256 key in PEM; remove it, and another is made: phones register again")
    }
    return key
  }

  /// A file from a platform, such as `AuthKey_….p8`.
  static func text(_ path: String, what: String) throws(Refusal) -> String {
    String(decoding: try read(path, what: what), as: UTF8.self)
  }

  /// The secret files in the worker's own directory, for a backup. The ring is among them: without it no token of the
  /// ledger opens.
  static func copies(in directory: String) -> [String: HeldFile] {
    var copies: [String: HeldFile] = [:]
    for name in [ringName, webPushName] where access("\(directory)/\(name)", F_OK) == 0 {
      copies[name] = .small { () throws(Refusal) in try read("\(directory)/\(name)", what: name) }
    }
    return copies
  }

  private static let (ringName, webPushName) = ("keys", "web-push.pem")

  // MARK: Bytes

  /// The bytes of a file, in one array, which the caller wipes.
  private static func read(_ path: String, what: String) throws(Refusal) -> [UInt8] {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw fault("\(what), \(path), cannot be read") }
    defer { close(descriptor) }
    var facts = stat()
    guard fstat(descriptor, &facts) == 0 else { throw fault(path) }
    guard facts.st_mode & 0o077 == 0 else {
      throw Refusal(.failed, "\(what), \(path), can be read by others than its owner; type: chmod 600 \(path)")
    }
    guard facts.st_size <= byteCountMaximum else {
      throw Refusal(.failed, "\(what), \(path), is no such file: too long")
    }
    var bytes = [UInt8](repeating: 0, count: Int(facts.st_size))
    var count = 0
    while count < bytes.count {
      let got = bytes.withUnsafeMutableBytes {
        Glibc.read(descriptor, $0.baseAddress?.advanced(by: count), $0.count - count)
      }
      guard got > 0 else { break }
      count += got
    }
    bytes.removeLast(bytes.count - count)
    return bytes
  }

  /// Writes all or nothing: a file half written would be a ring without its key.
  private static func write(_ bytes: [UInt8], to path: String) throws(Refusal) {
    let draft = path + ".new"
    unlink(draft)
    let descriptor = open(draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw fault("\(draft) cannot be made") }
    let written = bytes.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
    let isKept = written == bytes.count && fsync(descriptor) == 0
    close(descriptor)
    guard isKept, rename(draft, path) == 0 else {
      throw Refusal(.unavailable, "\(path) cannot be written: \(errorText)")
    }
    // If a power loss undid the new ring, everything encrypted under it would be lost.
    do throws(SystemFault) { try DirectoryEntries.synchronize(nameOf: path) } catch {
      throw Refusal(.unavailable, "\(path) cannot be written: \(error)")
    }
  }

  private static var errorText: String { String(cString: strerror(errno)) }

  /// The refusal for a system call that has just failed; `unavailable` if the cause may pass.
  private static func fault(_ what: String) -> Refusal {
    let code = errno
    return Refusal(SystemFault.mayPass(code) ? .unavailable : .failed, "\(what): \(String(cString: strerror(code)))")
  }
}
