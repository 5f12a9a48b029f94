public import Cryptography
internal import Glibc

/// Reads a backup file piece by piece, sealed or not.
public final class BackupInput {
  /// The file's path, for messages.
  public let path: String
  /// The size of the file; 0 if it is a pipe.
  public let fileByteCount: Int64
  /// Whether it is sealed.
  public var isSealed: Bool { stream != nil }

  private let descriptor: Int32
  private let ownsDescriptor: Bool
  private(set) var stream: SecretStream?
  private var waiting: [UInt8]
  private var hasEnded = false
  /// Bytes of the file up to the end of the last piece.
  private(set) var position = 0

  private static let pieceByteCount = 256 << 10

  /// Opens a file.
  ///
  /// - Parameters:
  ///   - path: the file; `-` is standard input.
  ///   - passphrase: called if the backup is sealed; nil: none is known.
  /// - Throws: `system`, `sealed`, `unsound`.
  public convenience init(
    path: String, passphrase: () throws(BackupFault) -> Passphrase?
  ) throws(BackupFault) {
    let isStandardInput = path == "-"
    let descriptor = isStandardInput ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY)
    guard descriptor >= 0 else { throw .system("open", path) }
    try self.init(
      descriptor, path: isStandardInput ? "standard input" : path, owns: !isStandardInput, passphrase: passphrase)
  }

  init(
    _ descriptor: Int32, path: String, owns: Bool, passphrase: () throws(BackupFault) -> Passphrase?
  ) throws(BackupFault) {
    (self.descriptor, self.path, ownsDescriptor, waiting) = (descriptor, path, owns, [])
    var status = stat()
    fileByteCount = fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT == S_IFREG ? Int64(status.st_size) : 0
    try fill(SealedForm.headByteCount)
    guard SealedForm.begins(waiting[...]) else { return }
    guard waiting.count >= SealedForm.headByteCount else { throw BackupReading.incomplete }
    guard let passphrase = try passphrase() else {
      throw BackupFault(.sealed, "\(path) is sealed: its passphrase is needed")
    }
    stream = try SealedForm.open(Array(waiting.prefix(SealedForm.headByteCount)), passphrase)
    waiting.removeFirst(SealedForm.headByteCount)
    position = SealedForm.headByteCount
  }

  deinit { if ownsDescriptor { close(descriptor) } }

  /// The next bytes of the archive; nil at the end. For a sealed backup the end was authenticated.
  ///
  /// - Parameter isCut: whether the file may end anywhere. Then the pieces are whole blocks of the archive, and what is
  ///   after them is left.
  /// - Throws: `unsound` where a sealed backup was changed or cut off; `wrongPassphrase` if that is at its beginning.
  func next(isCut: Bool = false) throws(BackupFault) -> [UInt8]? {
    guard let stream else {
      try fill(Self.pieceByteCount)
      if isCut { waiting.removeLast(waiting.count % TarHeader.blockByteCount) }
      if waiting.isEmpty { return nil }
      defer { waiting = [] }
      position += waiting.count
      return waiting
    }
    if hasEnded { return nil }
    let sealedByteCount = SealedForm.messageByteCount + SecretStream.addedByteCount
    // One byte more, to know whether a message is the last one.
    try fill(sealedByteCount + 1)
    let message = waiting.prefix(sealedByteCount)
    guard let opened = stream.open(message) else {
      if isCut, waiting.count <= sealedByteCount, position > SealedForm.headByteCount { return nil }
      if position == SealedForm.headByteCount {
        throw BackupFault(.wrongPassphrase, "the passphrase is wrong, or the beginning of \(path) was changed")
      }
      throw waiting.count <= sealedByteCount
        ? BackupReading.incomplete : BackupFault(.unsound, "\(path) was changed after \(position) bytes")
    }
    let isAtEnd = waiting.count <= sealedByteCount
    // A cut between two messages leaves no end either.
    guard opened.isLast == isAtEnd || isCut && isAtEnd && message.count == sealedByteCount else {
      throw isAtEnd ? BackupReading.incomplete : BackupFault(.unsound, "\(path) has bytes after its end")
    }
    position += message.count
    waiting.removeFirst(message.count)
    hasEnded = isAtEnd
    return opened.message
  }

  /// Reads until so many bytes wait, or the file ends.
  private func fill(_ wanted: Int) throws(BackupFault) {
    while waiting.count < wanted {
      let missing = wanted - waiting.count
      var piece = [UInt8](repeating: 0, count: missing)
      let count = read(descriptor, &piece, missing)
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { throw .system("read", path) }
      if count == 0 { return }
      waiting += piece[..<count]
    }
  }
}

/// What a sound backup holds.
public struct BackupSummary: Codable, Sendable, Hashable {
  /// Its manifest.
  public var manifest: BackupManifest
  /// The number of files.
  public var fileCount: Int
  /// Their bytes together.
  public var byteCount: Int64
  /// Whether it is sealed.
  public var isSealed: Bool
}

extension BackupInput {
  /// Reads the whole backup.
  ///
  /// - Parameters:
  ///   - progress: called with the bytes read so far, after each piece.
  ///   - write: gets the bytes of the configuration and of the workers' files; with no bytes, a file begins.
  /// - Throws: if anything of it is not right.
  public func check(
    progress: (Int64) -> Void = { _ in },
    _ write: (_ name: String, _ bytes: ArraySlice<UInt8>?) throws(BackupFault) -> Void = { _, _ in }
  ) throws(BackupFault) -> BackupSummary {
    var reading = BackupReading()
    while let piece = try next() {
      try reading.read(piece[...], write)
      progress(Int64(position))
    }
    guard reading.isComplete, let manifest = reading.manifest else { throw BackupReading.incomplete }
    return BackupSummary(
      manifest: manifest, fileCount: reading.sums.count, byteCount: reading.byteCount, isSealed: isSealed)
  }
}
