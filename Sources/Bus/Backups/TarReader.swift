/// What comes out of a tar archive, in order.
enum TarItem {
  /// A file begins.
  case file(TarHeader)
  /// Bytes of the file, after those before.
  case bytes(ArraySlice<UInt8>)
  /// The file is complete.
  case fileEnd
  /// The archive is complete: two blocks of zeros.
  case end
}

/// Reads a tar archive of which pieces of any length come one after the other. What is in memory is one block.
struct TarReader {
  private enum Place {
    case header
    case bytes(left: Int64, padding: Int)
    case padding(Int)
    case secondZero
    case end
  }

  private var place = Place.header
  private var block: [UInt8] = []

  /// Whether the archive is complete.
  var isComplete: Bool { if case .end = place { true } else { false } }

  /// The next piece.
  ///
  /// - Throws: `unsound`, or what `take` throws.
  mutating func read(
    _ piece: ArraySlice<UInt8>, _ take: (TarItem) throws(BackupFault) -> Void
  ) throws(BackupFault) {
    var rest = piece
    while !rest.isEmpty {
      switch place {
      case .bytes(let left, let padding):
        let count = Int(min(Int64(rest.count), left))
        try take(.bytes(rest.prefix(count)))
        rest = rest.dropFirst(count)
        if Int64(count) == left {
          try finish(padding, take)
        } else {
          place = .bytes(left: left - Int64(count), padding: padding)
        }
      case .padding(let count):
        let skipped = min(count, rest.count)
        guard rest.prefix(skipped).allSatisfy({ $0 == 0 }) else { throw Self.unsound }
        rest = rest.dropFirst(skipped)
        place = skipped == count ? .header : .padding(count - skipped)
      case .header, .secondZero:
        let count = min(TarHeader.blockByteCount - block.count, rest.count)
        block += rest.prefix(count)
        rest = rest.dropFirst(count)
        if block.count == TarHeader.blockByteCount { try readBlock(take) }
      case .end:
        guard rest.allSatisfy({ $0 == 0 }) else { throw Self.unsound }
        rest = []
      }
    }
  }

  private mutating func readBlock(_ take: (TarItem) throws(BackupFault) -> Void) throws(BackupFault) {
    defer { block.removeAll(keepingCapacity: true) }
    let isZero = block.allSatisfy { $0 == 0 }
    if case .secondZero = place {
      guard isZero else { throw Self.unsound }
      place = .end
      return try take(.end)
    }
    if isZero {
      place = .secondZero
      return
    }
    guard let header = TarHeader(block[...]) else { throw Self.unsound }
    try take(.file(header))
    if header.byteCount == 0 { return try finish(0, take) }
    place = .bytes(left: header.byteCount, padding: header.paddingByteCount)
  }

  private mutating func finish(
    _ padding: Int, _ take: (TarItem) throws(BackupFault) -> Void
  ) throws(BackupFault) {
    place = padding > 0 ? .padding(padding) : .header
    try take(.fileEnd)
  }

  private static let unsound = BackupFault(.unsound, "this is not a backup of Roost, or it was changed")
}
