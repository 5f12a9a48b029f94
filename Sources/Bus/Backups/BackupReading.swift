internal import Cryptography
internal import Frames

// A backup is sound when its first file is a manifest that this program knows, its files are those of the manifest in
// their order, the last one has the right sum of each, and nothing comes after the end. A backup that was cut off
// anywhere has no sums.

/// Checks a backup while its bytes come.
struct BackupReading {
  /// The manifest, once it was read.
  private(set) var manifest: BackupManifest?
  /// The files that are complete, with their sums.
  private(set) var sums: [(name: String, sum: String)] = []
  /// The file whose bytes come now, and how many of them there are.
  private(set) var current: (header: TarHeader, byteCount: Int64)?
  /// The sum of the present file so far.
  private(set) var hash = SHA256()
  /// The sizes of all files together.
  private(set) var byteCount: Int64 = 0

  private var reader = TarReader()
  private var text: [UInt8] = []

  /// Whether everything was read and is right.
  var isComplete: Bool { reader.isComplete }

  /// The next bytes of the backup. `write` gets the bytes of the configuration and of the workers' files; with no
  /// bytes, a file begins.
  mutating func read(
    _ piece: ArraySlice<UInt8>, _ write: (_ name: String, _ bytes: ArraySlice<UInt8>?) throws(BackupFault) -> Void
  ) throws(BackupFault) {
    var reader = reader
    try reader.read(piece) { item throws(BackupFault) in
      switch item {
      case .file(let header): try begin(header, write)
      case .bytes(let bytes): try take(bytes, write)
      case .fileEnd: try endFile()
      case .end: try end()
      }
    }
    self.reader = reader
  }

  private mutating func begin(
    _ header: TarHeader, _ write: (String, ArraySlice<UInt8>?) throws(BackupFault) -> Void
  ) throws(BackupFault) {
    let name = header.name
    let wanted = manifest.map { sums.count < $0.names.count ? $0.names[sums.count] : "" } ?? BackupManifest.name
    guard name == wanted else {
      let reason = manifest == nil ? "this is not a backup of Roost" : "the file \(name) is out of place"
      throw BackupFault(.unsound, reason)
    }
    // What is kept in memory is bounded.
    if isText(name) || name == BackupManifest.configurationName,
      header.byteCount > BackupManifest.byteCountMaximum
    {
      throw BackupFault(.unsound, "\(name) is too long")
    }
    current = (header, 0)
    text = []
    hash = SHA256()
    hash.begin()
    if !isText(name) { try write(name, nil) }
  }

  private mutating func take(
    _ bytes: ArraySlice<UInt8>, _ write: (String, ArraySlice<UInt8>?) throws(BackupFault) -> Void
  ) throws(BackupFault) {
    guard let name = current?.header.name else { preconditionFailure("bytes come after a header") }
    bytes.withUnsafeBytes { hash.update($0) }
    current?.byteCount += Int64(bytes.count)
    byteCount += Int64(bytes.count)
    if isText(name) { text += bytes } else { try write(name, bytes) }
  }

  private mutating func endFile() throws(BackupFault) {
    guard let name = current?.header.name else { preconditionFailure("a file ends after its header") }
    current = nil
    if name == BackupManifest.sumsName {
      let right = Self.text(of: sums)
      guard text == right else {
        let lines = Set(text.split(separator: 0x0A).map { String(decoding: $0, as: UTF8.self) })
        let wrong = sums.first { !lines.contains("\($0.sum)  \($0.name)") }?.name ?? name
        throw BackupFault(.unsound, "\(wrong) is not as it was written: the backup is damaged")
      }
    }
    sums.append((name, "\(hash.end())"))
    guard name == BackupManifest.name else { return }
    let read: BackupManifest
    do throws(Refusal) { read = try JSONPayload.decode(BackupManifest.self, from: text) } catch {
      throw BackupFault(.unsound, "its manifest cannot be read: \(error.message)")
    }
    if let objection = read.objection { throw objection }
    manifest = read
  }

  private func end() throws(BackupFault) {
    guard sums.count == manifest?.names.count else { throw Self.incomplete }
  }

  private func isText(_ name: String) -> Bool { name == BackupManifest.name || name == BackupManifest.sumsName }

  /// The bytes of `SHA256SUMS`.
  static func text(of sums: [(name: String, sum: String)]) -> [UInt8] {
    sums.flatMap { Array("\($0.sum)  \($0.name)\n".utf8) }
  }

  /// A backup that ends too early.
  static let incomplete = BackupFault(.unsound, "the backup is not complete: it ends too early")
}
