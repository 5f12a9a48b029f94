internal import Cryptography
internal import Glibc
internal import LinuxSystem

/// Small files with secrets: checked before use, and wiped from memory afterwards.
enum SecretFile {
  /// Reads a plain file that belongs to the signer's user, and that other users cannot read or change.
  ///
  /// - Parameters:
  ///   - path: an absolute path.
  ///   - isForeignOwnerAllowed: whether root may own it and its group may read it, as with a service manager's
  ///     credentials.
  ///   - body: reads the bytes, which are then wiped.
  static func read<Value>(
    _ path: String, isForeignOwnerAllowed: Bool = false,
    _ body: (UnsafeRawBufferPointer) throws(SecretTextFault) -> Value
  ) throws(KeyStoreFault) -> Value {
    // Non-blocking: the file might be a pipe.
    let descriptor = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
    guard descriptor >= 0 else {
      if errno == ELOOP {
        throw .untrusted(path: path, reason: "it is a symbolic link", remedy: "put the file itself there")
      }
      throw .system(SystemFault(call: "open", subject: path, code: errno))
    }
    defer { close(descriptor) }
    try check(descriptor, path, isForeignOwnerAllowed)
    var count = 0
    let memory = SecretMemory(byteCount: StoredKey.byteCountMaximum + 1) { bytes in
      while count < bytes.count {
        let got = Glibc.read(descriptor, bytes.baseAddress?.advanced(by: count), bytes.count - count)
        if got < 0 && errno == EINTR { continue }
        guard got > 0 else {
          if got < 0 { count = -Int(errno) }
          break
        }
        count += got
      }
    }
    guard count >= 0 else { throw .system(SystemFault(call: "read", subject: path, code: Int32(-count))) }
    guard count <= StoredKey.byteCountMaximum else {
      throw .unreadable(path: path, problem: "it has more than \(StoredKey.byteCountMaximum) bytes")
    }
    do throws(SecretTextFault) {
      return try memory.withBytes { bytes throws(SecretTextFault) in
        try body(UnsafeRawBufferPointer(rebasing: bytes[..<count]))
      }
    } catch {
      throw .unreadable(path: path, problem: error.description)
    }
  }

  private static func check(
    _ descriptor: Int32, _ path: String, _ isForeignOwnerAllowed: Bool
  ) throws(KeyStoreFault) {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else {
      throw .system(SystemFault(call: "fstat", subject: path, code: errno))
    }
    guard status.st_mode & S_IFMT == S_IFREG else {
      throw .untrusted(path: path, reason: "it is no plain file", remedy: "move it away: mv '\(path)' '\(path).other'")
    }
    let owner = geteuid()
    guard status.st_uid == owner || (isForeignOwnerAllowed && status.st_uid == 0) else {
      throw .untrusted(
        path: path, reason: "it belongs to user \(status.st_uid) and not to us",
        remedy: "chown \(owner) '\(path)'")
    }
    let forbidden: mode_t = isForeignOwnerAllowed ? S_IWGRP | S_IRWXO : S_IRWXG | S_IRWXO
    guard status.st_mode & forbidden == 0 else {
      let mode = String(status.st_mode & 0o7777, radix: 8)
      throw .untrusted(
        path: path, reason: "others may read or change it (mode \(mode))",
        remedy: "if it was read by no one, chmod 600 '\(path)', else make a new key")
    }
  }
}
