internal import Cryptography
internal import Glibc
internal import LinuxSystem

// A backup is written to `FILE.part`, which gets the name FILE when everything is on the disk: a file with that name is
// a whole backup. What an interrupted run has left is continued if the workers still keep the same state.

/// Writes a backup.
final class BackupOutput {
  /// How far the backup has come.
  private(set) var reading = BackupReading()

  private let path: String
  private let descriptor: Int32
  private let isPipe: Bool
  private var stream: SecretStream?
  /// Bytes of a sealed backup that do not fill a message yet.
  private var waiting: [UInt8] = []

  private var partPath: String { isPipe ? path : path + ".part" }

  /// Begins a backup; `-` is standard output.
  ///
  /// - Parameters:
  ///   - passphrase: seals the backup.
  ///   - logN: what a guess at the passphrase costs.
  init(path: String, passphrase: Passphrase?, logN: UInt8) throws(BackupFault) {
    self.path = path
    isPipe = path == "-"
    if isPipe {
      descriptor = STDOUT_FILENO
    } else {
      try Self.refuseExisting(path)
      descriptor = open(path + ".part", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
    }
    guard descriptor >= 0 else { throw .system("open", path + ".part") }
    if !isPipe {
      try Self.lock(descriptor, path)
      guard ftruncate(descriptor, 0) == 0 else { throw .system("ftruncate", path + ".part") }
    }
    guard let passphrase else { return }
    let sealed = try SealedForm.begin(passphrase, logN: logN)
    stream = sealed.stream
    try put(sealed.head)
  }

  private init(_ descriptor: Int32, path: String, _ stream: SecretStream?, _ reading: BackupReading) {
    (self.descriptor, self.path, self.stream, self.reading, isPipe) = (descriptor, path, stream, reading, false)
  }

  /// The most bytes of a file that a worker does not copy at the moment of the backup, such as a key.
  private static let smallByteCount: Int64 = 64 << 10

  /// Continues what an interrupted run has left; nil if there is nothing that can be continued.
  static func continued(path: String, passphrase: Passphrase?) throws(BackupFault) -> BackupOutput? {
    guard path != "-" else { return nil }
    try refuseExisting(path)
    let part = path + ".part"
    let descriptor = open(part, O_RDWR | O_CLOEXEC | O_NOFOLLOW)
    guard descriptor >= 0 else { return nil }
    do throws(BackupFault) { try lock(descriptor, path) } catch {
      close(descriptor)
      throw error
    }
    var reading = BackupReading()
    var end = 0
    let input: BackupInput
    // What cannot be read is not continued: the backup begins again.
    do throws(BackupFault) {
      input = try BackupInput(descriptor, path: part, owns: false) { passphrase }
      end = input.position
      guard input.isSealed == (passphrase != nil) else { throw BackupReading.incomplete }
      while let piece = try input.next(isCut: true) {
        try reading.read(piece[...]) { _, _ in }
        end = input.position
      }
    } catch {
      close(descriptor)
      return nil
    }
    // Half a small file is not continued: it may have been changed.
    let isSmallBegun = reading.current.map { $0.byteCount > 0 && $0.header.byteCount <= smallByteCount } ?? false
    let isConfiguration = reading.current?.header.name == BackupManifest.configurationName
    guard reading.manifest != nil, !isSmallBegun, !isConfiguration, ftruncate(descriptor, end) == 0,
      lseek(descriptor, end, SEEK_SET) >= 0
    else {
      close(descriptor)
      return nil
    }
    return BackupOutput(descriptor, path: path, input.stream, reading)
  }

  deinit { if !isPipe { close(descriptor) } }

  /// One process at a time writes the file; the lock ends with the descriptor.
  private static func lock(_ descriptor: Int32, _ path: String) throws(BackupFault) {
    guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
      throw errno == EWOULDBLOCK
        ? BackupFault(.occupied, "another backup is being written to \(path).part") : .system("flock", path + ".part")
    }
  }

  private static func refuseExisting(_ path: String) throws(BackupFault) {
    var status = stat()
    guard lstat(path, &status) != 0 else {
      throw BackupFault(.occupied, "\(path) is there already: choose another name, or remove it")
    }
  }

  /// Removes the file: nothing of a backup is in it yet.
  func abandon() { if !isPipe { unlink(partPath) } }

  /// The next bytes of the archive.
  func write(_ bytes: [UInt8]) throws(BackupFault) {
    try reading.read(bytes[...]) { _, _ in }
    guard let stream else { return try put(bytes) }
    waiting += bytes
    var first = 0
    while waiting.count - first > SealedForm.messageByteCount {
      try put(stream.seal(waiting[first..<(first + SealedForm.messageByteCount)], isLast: false))
      first += SealedForm.messageByteCount
    }
    if first > 0 { waiting.removeFirst(first) }
  }

  /// Waits until everything is on the disk, and gives the file its name. Blocks for as long as the disk takes.
  ///
  /// - Parameter isEnded: whether an earlier run has written the end of a sealed backup.
  func finish(isEnded: Bool = false) throws(BackupFault) {
    precondition(reading.isComplete, "only a whole backup gets its name")
    if let stream, !isEnded { try put(stream.seal(waiting[...], isLast: true)) }
    guard !isPipe else { return }
    guard fsync(descriptor) == 0 else { throw .system("fsync", partPath) }
    // `link` does not replace a file that was made meanwhile, as `rename` would.
    let lacksLinks: Set<Int32> = [EPERM, ENOSYS, EOPNOTSUPP, EMLINK]
    guard link(partPath, path) == 0 || lacksLinks.contains(errno) && rename(partPath, path) == 0 else {
      throw .system("link", path)
    }
    unlink(partPath)
    do throws(SystemFault) { try DirectoryEntries.synchronizeReadable(nameOf: absolutePath) } catch {
      throw BackupFault(.system, "\(path): \(error)")
    }
  }

  private var absolutePath: String { path.hasPrefix("/") ? path : "./" + path }

  private func put(_ bytes: [UInt8]) throws(BackupFault) {
    var written = 0
    while written < bytes.count {
      let count = bytes[written...].withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { throw .system("write", isPipe ? "standard output" : partPath) }
      written += count
    }
  }
}
