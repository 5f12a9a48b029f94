import FoundationEssentials

/// Bytes as text for dead letters whose payload is no UTF-8.
enum Base64 {
  static func encode(_ bytes: [UInt8]) -> String { Data(bytes).base64EncodedString() }
  static func decode(_ text: String) -> [UInt8]? { Data(base64Encoded: text).map(Array.init) }
}
