@testable import BatchVerification
import Clocks
import Cryptography
import TestSupport
import Testing

/// Integers as hexadecimal digits, computed by Python.
struct PythonIntegers {
  private let peer: LinePeer

  init() throws { peer = try LinePeer("integers.py") }

  func compute(_ operation: String, _ numbers: String...) throws -> String {
    try compute(operation, numbers)
  }

  func compute(_ operation: String, _ numbers: [String]) throws -> String {
    String(decoding: try peer.ask(Array(([operation] + numbers).joined(separator: " ").utf8)), as: UTF8.self)
  }
}

/// 64 hexadecimal digits of words.
func digits(_ words: Words256) -> String { octets32(of: words).description }

func digits(_ value: UInt128) -> String {
  digits((UInt64(truncatingIfNeeded: value), UInt64(truncatingIfNeeded: value >> 64), 0, 0))
}

extension SeededGenerator {
  /// Words of every shape: random ones, and those near 0, 2²⁵⁶, p, n and powers of 2, where carries are.
  mutating func nextWords() -> Words256 {
    let edges: [UInt64] = [0, 1, .max, .max - 1, 0xffff_fffe_ffff_fc2f, 0xffff_fffe_ffff_fc2e, 0x1_0000_03d0, 1 << 63]
    if Bool.random(using: &self) { return (next(), next(), next(), next()) }
    var words = [UInt64](repeating: 0, count: 4)
    for index in 0..<4 { words[index] = Bool.random(using: &self) ? next() : edges[Int(next() % 8)] }
    if next() % 4 == 0 { (words[1], words[2], words[3]) = (.max, .max, .max) }
    if next() % 8 == 0 {
      let order = Scalar.order
      words = [order.0 &+ next() % 5 &- 2, order.1, order.2, order.3]
    }
    return (words[0], words[1], words[2], words[3])
  }
}
