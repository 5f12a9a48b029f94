internal import Frames

/// How much a receiver lets the hub send, over its connection or of one answer, and how much was sent.
struct GrantedCredit {
  private var granted: Credit
  private var sent = Credit.zero

  /// What a receiver grants at first; without a window, nothing.
  init(_ window: Window = Window(frames: 0, bytes: 0)) { granted = Credit(frames: window.frames, bytes: window.bytes) }

  /// Whether one more frame may be sent.
  @inline(__always)
  var hasRoom: Bool { sent.frames < granted.frames && sent.bytes < granted.bytes }

  /// One frame is sent.
  @inline(__always)
  mutating func use(byteCount: Int) { sent.add(byteCount: byteCount) }

  /// The receiver says how much it takes in all.
  ///
  /// - Returns: whether that is more than before.
  @discardableResult
  mutating func raise(to total: Credit) -> Bool {
    guard total.frames > granted.frames || total.bytes > granted.bytes else { return false }
    granted = Credit(frames: max(granted.frames, total.frames), bytes: max(granted.bytes, total.bytes))
    return true
  }
}

extension Credit {
  static var zero: Credit { Credit(frames: 0, bytes: 0) }

  /// One more frame.
  @inline(__always)
  mutating func add(byteCount: Int) {
    frames += 1
    bytes += UInt64(byteCount)
  }

  /// One frame less.
  @inline(__always)
  mutating func remove(byteCount: Int) {
    frames -= 1
    bytes -= UInt64(byteCount)
  }
}
