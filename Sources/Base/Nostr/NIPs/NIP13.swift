internal import Cryptography

extension EventID {
  /// The proof of work of an event, in bits: the leading zero bits of its id (NIP-13).
  public var leadingZeroBitCount: Int {
    octets.withUnsafeBytes { bytes in
      var count = 0
      for byte in bytes {
        count += byte.leadingZeroBitCount
        if byte != 0 { break }
      }
      return count
    }
  }
}
