internal import CQRencode

// A key is short, and a phone's camera reads it faster than a person types it. libqrencode makes the modules (ISO
// 18004); how they look on a terminal is the command line's matter.

/// A text as a QR code: a square of dark and light modules, without the light margin that readers need around it.
public struct QRCode: Hashable, Sendable {
  /// Modules on each side: 21 to 177.
  public let sideLength: Int
  private let modules: [Bool]

  /// The longest text, in bytes: what the largest code holds at level M.
  public static let byteCountMaximum = 2_331
  /// The light modules that readers need on each side.
  public static let quietZone = 4

  /// Encodes a text as bytes, at error correction level M: readers repair about 15 of 100 modules.
  ///
  /// - Returns: nil for an empty text, and for one of more than ``byteCountMaximum`` bytes.
  public init?(_ text: String) {
    let bytes = Array(text.utf8)
    guard (1...Self.byteCountMaximum).contains(bytes.count) else { return nil }
    // Version 0: the smallest that holds the text.
    guard let code = QRcode_encodeData(Int32(bytes.count), bytes, 0, QR_ECLEVEL_M) else { return nil }
    defer { QRcode_free(code) }
    let count = Int(code.pointee.width)
    guard let data = code.pointee.data else { return nil }
    sideLength = count
    // The lowest bit is the colour; the others say what a module is for.
    modules = UnsafeBufferPointer(start: data, count: count * count).map { $0 & 1 == 1 }
  }

  /// Whether a module is dark. Outside of the square all are light.
  public func isDark(row: Int, column: Int) -> Bool {
    guard (0..<sideLength).contains(row), (0..<sideLength).contains(column) else { return false }
    return modules[row * sideLength + column]
  }
}
