internal import Glibc

/// The interpreter that a script's first line names: execve(2), "Interpreter scripts".
public enum ScriptInterpreter {
  /// Bytes at a file's beginning that the kernel reads.
  public static let lineByteCountMaximum = 256

  /// The path in `#!/usr/bin/python3 -u`; nil if the file is not a script, or cannot be read.
  public static func path(of file: String) -> String? {
    let descriptor = open(file, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    defer { Descriptors.close(descriptor) }
    var bytes = [UInt8](repeating: 0, count: lineByteCountMaximum)
    let count = read(descriptor, &bytes, bytes.count)
    guard count > 2, bytes.starts(with: [UInt8(ascii: "#"), UInt8(ascii: "!")]) else { return nil }
    let line = bytes[2..<count].prefix { $0 != UInt8(ascii: "\n") }
    let words = line.split { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
    return words.first.map { String(decoding: $0, as: UTF8.self) }
  }

  /// The interpreter that a script names but that cannot be run; nil if nothing is missing.
  public static func missing(for file: String) -> String? {
    path(of: file).flatMap { access($0, X_OK) == 0 ? nil : $0 }
  }
}
