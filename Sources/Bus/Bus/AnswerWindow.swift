internal import Frames

/// How much of one answer may be sent: its window, and what its caller has consumed since. See
/// `docs/protocol-credit.md`.
struct AnswerWindow {
  /// nil = the hub has no windows for answers.
  private var granted: Credit?
  private var sent = Credit(frames: 0, bytes: 0)

  /// Starts with the window that WELCOME grants to every answer.
  init(_ window: Window?) {
    granted = window.map { Credit(frames: $0.frames, bytes: $0.bytes) }
  }

  /// Whether one more part may be sent; its bytes may exceed the window.
  var hasRoom: Bool {
    guard let granted else { return true }
    return sent.frames < granted.frames && sent.bytes < granted.bytes
  }

  mutating func didSend(byteCount: Int) {
    sent.frames += 1
    sent.bytes += UInt64(byteCount)
  }

  /// A part that was counted as sent was not sent.
  mutating func didNotSend(byteCount: Int) {
    sent.frames -= 1
    sent.bytes -= UInt64(byteCount)
  }

  /// The hub raised the totals.
  mutating func receivedGrant(_ credit: Credit) {
    guard let granted else { return }
    self.granted = Credit(frames: max(granted.frames, credit.frames), bytes: max(granted.bytes, credit.bytes))
  }
}
