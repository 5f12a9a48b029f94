public import Cryptography
internal import Glibc

extension Passphrase {
  /// The first line of a file.
  ///
  /// - Throws: `system` if the file cannot be read, `sealed` if its first line is empty, `wrongPassphrase` if that is
  ///   no passphrase.
  public init(firstLineOf path: String) throws(BackupFault) {
    guard let file = fopen(path, "re") else { throw .system("open", path) }
    defer { fclose(file) }
    var bytes = [UInt8](repeating: 0, count: Passphrase.byteCountMaximum + 2)
    defer { bytes.wipe() }
    let count = fread(&bytes, 1, bytes.count, file)
    let length = bytes[..<count].prefix { $0 != 0x0A && $0 != 0x0D }.count
    try self.init(line: bytes[..<length], from: path)
  }

  /// A line that a person has typed, or that a file holds; `source` says which. The caller wipes it.
  public init(line: ArraySlice<UInt8>, from source: String) throws(BackupFault) {
    guard !line.isEmpty else { throw BackupFault(.sealed, "the passphrase of \(source) is empty") }
    let result = line.withUnsafeBytes { bytes -> Result<Passphrase, PassphraseFault> in
      do throws(PassphraseFault) { return .success(try Passphrase(utf8: bytes)) } catch { return .failure(error) }
    }
    do throws(PassphraseFault) { self = try result.get() } catch { throw BackupFault(.wrongPassphrase, "\(error)") }
  }
}
