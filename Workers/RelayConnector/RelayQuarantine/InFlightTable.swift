// What a connector has in hand, where the next process finds it: the layout of a small file that is mapped into memory.
//
//      0  8 bytes  "ROOSTHND"
//      8  u32      version: 1
//     12  u32      in hand: the number of a slot, from 1; 0 = nothing
//     16  zeroes to 64
//     64  slots of 512 bytes, the first one is number 1:
//           0  u16  bytes of the URL; 0 = the slot is free
//           2  u16  how many strikes
//           4  u32  0
//           8  i64  3 times: when they were, seconds since 1970, the earliest first
//          32  the URL, at most 480 bytes
//
// Numbers are in the machine's order: the file does not travel. Of a table that is none, or of another version, nothing
// is believed. A death in the middle of a change finds a slot free, or with fewer strikes, never with another's.
//
// Rejected: a handler for SIGSEGV that writes the name. It would run in a process that is broken, would not see a
// kill -9, and a store of a number costs less than setting it up.

/// A view of the table in memory that belongs to somebody else and must outlive it.
public struct InFlightTable {
  /// How long the table is.
  public static let byteCount = headerByteCount + slotMaximum * slotByteCount
  /// Relays that have a slot at a time; others are not watched.
  public static let slotMaximum = 512
  /// Bytes of a URL that has a slot; those of a longer one are not watched.
  public static let urlByteCountMaximum = slotByteCount - urlOffset
  /// Strikes that are kept of a relay.
  public static let strikeMaximum = 3

  private static let headerByteCount = 64
  private static let slotByteCount = 512
  private static let urlOffset = 32
  private static let markOffset = 12
  private static let magic = Array("ROOSTHND".utf8)
  private static let version: UInt32 = 1

  private let memory: UnsafeMutableRawBufferPointer
  private var numbers: [String: UInt32] = [:]
  private var free: [UInt32] = []

  /// What was found in a table.
  public struct Remains: Hashable, Sendable {
    /// Whose bytes were in hand when the process before ended.
    public var relayInHand: String?
    /// Strikes of each relay that has some.
    public var strikes: [String: [Int64]] = [:]

    /// Nothing.
    public init() {}
  }

  /// Reads what the process before has left, and begins again with its strikes and nothing in hand.
  ///
  /// - Parameter memory: of ``byteCount`` bytes, aligned to 8.
  public init(_ memory: UnsafeMutableRawBufferPointer) {
    precondition(memory.count >= Self.byteCount, "the table has \(Self.byteCount) bytes")
    self.memory = memory
    remains = Self.read(memory)
    memory.initializeMemory(as: UInt8.self, repeating: 0)
    memory.copyBytes(from: Self.magic)
    memory.storeBytes(of: Self.version, toByteOffset: Self.magic.count, as: UInt32.self)
    free = (1...UInt32(Self.slotMaximum)).reversed()
    for (relay, strikes) in remains.strikes { keep(strikes, of: relay) }
  }

  /// What the process before has left.
  public let remains: Remains

  /// Where the number in hand stands: a store to it is all that a message costs.
  public var mark: UnsafeMutablePointer<UInt32>? {
    memory.baseAddress.map { ($0 + Self.markOffset).assumingMemoryBound(to: UInt32.self) }
  }

  /// The number of a relay, from now until ``leave(_:)``; nil when there is no slot for it.
  public mutating func enter(_ relay: String) -> UInt32? {
    if let number = numbers[relay] { return number }
    let url = Array(relay.utf8)
    guard (1...Self.urlByteCountMaximum).contains(url.count), let number = free.popLast() else { return nil }
    numbers[relay] = number
    let slot = slot(number)
    UnsafeMutableRawBufferPointer(rebasing: slot[Self.urlOffset...]).copyBytes(from: url)
    slot.storeBytes(of: 0, toByteOffset: 2, as: UInt16.self)
    slot.storeBytes(of: UInt16(url.count), toByteOffset: 0, as: UInt16.self)
    return number
  }

  /// A relay is not spoken to any more. One with strikes keeps its slot.
  public mutating func leave(_ relay: String) {
    guard let number = numbers[relay], strikeCount(number) == 0 else { return }
    slot(number).storeBytes(of: 0, toByteOffset: 0, as: UInt16.self)
    numbers[relay] = nil
    free.append(number)
  }

  /// Keeps a relay's strikes for later processes, the last ``strikeMaximum`` of them.
  public mutating func keep(_ strikes: [Int64], of relay: String) {
    guard let number = enter(relay) else { return }
    let slot = slot(number)
    let kept = strikes.suffix(Self.strikeMaximum)
    slot.storeBytes(of: 0, toByteOffset: 2, as: UInt16.self)
    for (index, time) in kept.enumerated() {
      slot.storeBytes(of: time, toByteOffset: 8 + 8 * index, as: Int64.self)
    }
    slot.storeBytes(of: UInt16(kept.count), toByteOffset: 2, as: UInt16.self)
  }

  private func slot(_ number: UInt32) -> UnsafeMutableRawBufferPointer {
    let start = Self.headerByteCount + Int(number - 1) * Self.slotByteCount
    return UnsafeMutableRawBufferPointer(rebasing: memory[start..<start + Self.slotByteCount])
  }

  private func strikeCount(_ number: UInt32) -> UInt16 { slot(number).load(fromByteOffset: 2, as: UInt16.self) }

  // MARK: Reading

  private static func read(_ memory: UnsafeMutableRawBufferPointer) -> Remains {
    var remains = Remains()
    guard memory.starts(with: magic), memory.load(fromByteOffset: magic.count, as: UInt32.self) == version else {
      return remains
    }
    let inHand = memory.load(fromByteOffset: markOffset, as: UInt32.self)
    for number in 1...slotMaximum {
      let start = headerByteCount + (number - 1) * slotByteCount
      let slot = UnsafeRawBufferPointer(rebasing: memory[start..<start + slotByteCount])
      let urlByteCount = Int(slot.load(as: UInt16.self))
      guard (1...urlByteCountMaximum).contains(urlByteCount) else { continue }
      let relay = String(decoding: slot[urlOffset..<urlOffset + urlByteCount], as: UTF8.self)
      if inHand == UInt32(number) { remains.relayInHand = relay }
      let strikeCount = min(Int(slot.load(fromByteOffset: 2, as: UInt16.self)), strikeMaximum)
      guard strikeCount > 0 else { continue }
      // A time before 1970 is none, and far enough before it no sum could hold it.
      let strikes = (0..<strikeCount).map { slot.load(fromByteOffset: 8 + 8 * $0, as: Int64.self) }.filter { $0 >= 0 }
      if !strikes.isEmpty { remains.strikes[relay] = strikes }
    }
    return remains
  }
}
