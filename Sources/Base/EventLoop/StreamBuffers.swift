internal import CLibUV

/// Input that a consumer has left unused: a partial frame. Grows with received bytes only.
struct InputRest {
  private var memory: UnsafeMutableRawBufferPointer?
  private(set) var count = 0

  /// The minimum room for a read into this buffer.
  private static let readSpace = 64 << 10

  func copy(to target: UnsafeMutableRawBufferPointer) {
    guard count > 0, let base = memory?.baseAddress else { return }
    target.baseAddress?.copyMemory(from: base, byteCount: count)
  }

  /// Replaces the contents with `bytes`, which must not be in this buffer.
  mutating func replace(with bytes: UnsafeRawBufferPointer) {
    count = bytes.count
    guard count > 0 else {
      free()
      return
    }
    if (memory?.count ?? 0) < count {
      memory?.deallocate()
      memory = .allocate(byteCount: max(count, 4 << 10), alignment: 16)
    }
    memory?.copyMemory(from: bytes)
  }

  /// Room after the contents for a read straight into this buffer; it doubles, so it is proportional to what was
  /// received.
  mutating func spaceForMore() -> UnsafeMutableRawBufferPointer {
    let capacity = memory?.count ?? 0
    if capacity - count < Self.readSpace {
      let larger = UnsafeMutableRawBufferPointer.allocate(
        byteCount: max(capacity * 2, count + Self.readSpace), alignment: 16)
      copy(to: larger)
      memory?.deallocate()
      memory = larger
    }
    guard let memory else { return UnsafeMutableRawBufferPointer(start: nil, count: 0) }
    return UnsafeMutableRawBufferPointer(rebasing: memory[count...])
  }

  mutating func didAppend(_ byteCount: Int) { count += byteCount }

  /// Offers the contents; drops as many bytes from the front as `body` says it used.
  mutating func withBytes(_ body: (UnsafeMutableRawBufferPointer) -> Int) {
    // Moved out for the call: `body` may close the stream, which frees the buffer in place.
    let taken = memory
    let takenCount = count
    memory = nil
    count = 0
    guard let taken else { return }
    let used = body(UnsafeMutableRawBufferPointer(rebasing: taken[..<takenCount]))
    replace(with: UnsafeRawBufferPointer(rebasing: taken[used..<takenCount]))
    taken.deallocate()
  }

  mutating func free() {
    memory?.deallocate()
    memory = nil
    count = 0
  }
}

/// Output bytes, appended at the end and written from the front.
struct OutputBuffer {
  private var memory: UnsafeMutableRawPointer?
  private var capacity = 0
  private var start = 0
  private var end = 0

  /// Whether memory is kept for the next turn.
  private let keepsMemory: Bool

  /// The usual output of a stream in one turn.
  private static let firstCapacity = 16 << 10
  /// Usually one message: for many streams that get the same message in one turn.
  private static let firstCapacityUnkept = 1 << 10
  private static let keptCapacity = 128 << 10

  init(keepsMemory: Bool = true) { self.keepsMemory = keepsMemory }

  var count: Int { end - start }

  var unwritten: uv_buf_t {
    uv_buf_init(memory.map { ($0 + start).assumingMemoryBound(to: CChar.self) }, UInt32(truncatingIfNeeded: count))
  }

  /// Room for more bytes, which count as contents at once: the caller must fill all of it.
  @inline(__always)
  mutating func append(byteCount: Int) -> UnsafeMutableRawBufferPointer {
    if capacity - end < byteCount { grow(by: byteCount) }
    let start = end
    end += byteCount
    return UnsafeMutableRawBufferPointer(start: memory.map { $0 + start }, count: memory == nil ? 0 : byteCount)
  }

  @inline(never)
  private mutating func grow(by byteCount: Int) {
    let first = keepsMemory ? Self.firstCapacity : Self.firstCapacityUnkept
    let larger = max(capacity * (keepsMemory ? 2 : 4), count + byteCount, first)
    let fresh = UnsafeMutableRawPointer.allocate(byteCount: larger, alignment: 64)
    if let memory {
      fresh.copyMemory(from: memory + start, byteCount: count)
      memory.deallocate()
    }
    memory = fresh
    capacity = larger
    end = count
    start = 0
  }

  mutating func drop(_ byteCount: Int) {
    start += byteCount
    if start == end {
      start = 0
      end = 0
    }
  }

  /// After a burst the memory is freed; an ordinary buffer is kept for the next turn, if the stream keeps memory.
  mutating func giveBackMemory() {
    if capacity > (keepsMemory ? Self.keptCapacity : 0) { free() }
  }

  mutating func free() {
    memory?.deallocate()
    self = OutputBuffer(keepsMemory: keepsMemory)
  }
}
