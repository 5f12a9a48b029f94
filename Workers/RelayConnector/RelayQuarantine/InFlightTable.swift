// Which relay's bytes a connector is processing, in a place where the next process finds it: a small file, mapped into
// memory.
//
//      0  8 bytes  "ROOSTHND"
//      8  u32      version: 1
//     12  u32      in flight: the number of a slot, from 1; 0 = nothing
//     16  zeroes to 64
//     64  slots of 512 bytes, the first one is number 1:
//           0  u16  bytes of the URL; 0 = the slot is free
//           2  u16  how many strikes
//           4  u32  0
//           8  i64  3 times: when they were, seconds since 1970, the earliest first
//          32  the URL, at most 480 bytes
//
// Numbers are in the machine's byte order: the file does not travel. A file that is not such a table, or has another
// version, is ignored. If the process dies in the middle of a change, a slot is free or has fewer strikes; it never has
// those of another relay.
//
// Rejected: a handler for SIGSEGV that writes the name. It would run in a broken process and would not see a kill -9;
// and to store a number costs less than to set a handler up.

/// A view of the table in memory that the caller owns. The memory must outlive the view.
public struct InFlightTable {
  /// The size of the table in bytes.
  public static let byteCount = headerByteCount + slotMaximum * slotByteCount
  /// How many relays can have a slot at a time; the others are not watched.
  public static let slotMaximum = 512
  /// The most bytes of a URL in a slot; a relay with a longer URL is not watched.
  public static let urlByteCountMaximum = slotByteCount - urlOffset
  /// How many strikes are kept of a relay.
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

  /// What the table contained at the start.
  public struct Remains: Hashable, Sendable {
    /// The relay whose bytes were being processed when the previous process ended.
    public var relayInHand: String?
    /// The strikes of each relay that has some.
    public var strikes: [String: [Int64]] = [:]

    /// An empty table.
    public init() {}
  }

  /// Reads what the previous process left, and starts with its strikes and no relay in flight.
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

  /// What the previous process left.
  public let remains: Remains

  /// The address of the in-flight number: one store to it is the whole cost for a message.
  public var mark: UnsafeMutablePointer<UInt32>? {
    memory.baseAddress.map { ($0 + Self.markOffset).assumingMemoryBound(to: UInt32.self) }
  }

  /// The number of a relay, valid until ``leave(_:)``; nil when no slot is free for it.
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

  /// The connector is done with a relay. A relay with strikes keeps its slot.
  public mutating func leave(_ relay: String) {
    guard let number = numbers[relay], strikeCount(number) == 0 else { return }
    slot(number).storeBytes(of: 0, toByteOffset: 0, as: UInt16.self)
    numbers[relay] = nil
    free.append(number)
  }

  /// Keeps the last ``strikeMaximum`` strikes of a relay for later processes.
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
      // A time before 1970 is not valid, and one far before it would overflow a sum.
      let strikes = (0..<strikeCount).map { slot.load(fromByteOffset: 8 + 8 * $0, as: Int64.self) }.filter { $0 >= 0 }
      if !strikes.isEmpty { remains.strikes[relay] = strikes }
    }
    return remains
  }
}
