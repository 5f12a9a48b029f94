internal import Frames

/// The credit of one connection, or of one answer, in both directions. Pure arithmetic; see `docs/protocol-credit.md`.
struct CreditLedger {
  // What we may send.
  private var granted: Credit
  private var sent = Credit(frames: 0, bytes: 0)
  /// The part of it that is reserved for requests made while a request is served: a quarter of the first grant.
  private let reserve: Credit
  // What the other side may send.
  private let window: Window
  private var returned = Credit(frames: 0, bytes: 0)
  private var announced: Credit

  /// Starts with the windows that both sides granted.
  init(granted: Window, window: Window, keepsReserve: Bool = false) {
    reserve = Credit(frames: keepsReserve ? granted.frames / 4 : 0, bytes: keepsReserve ? granted.bytes / 4 : 0)
    self.granted = Credit(frames: granted.frames, bytes: granted.bytes)
    self.window = window
    announced = Credit(frames: window.frames, bytes: window.bytes)
  }

  /// The credit of one answer's receiver, which sends nothing.
  init(answerWindow: Window) { self.init(granted: Window(frames: 0, bytes: 0), window: answerWindow) }

  /// Whether one more frame may be sent.
  var hasCredit: Bool { sent.frames < granted.frames && sent.bytes < granted.bytes }

  /// Whether one more frame may be sent that does not belong to a request in flight.
  var hasCreditBeyondReserve: Bool {
    sent.frames + reserve.frames < granted.frames && sent.bytes + reserve.bytes < granted.bytes
  }

  mutating func didSend(byteCount: Int) {
    sent.frames += 1
    sent.bytes += UInt64(byteCount)
  }

  /// The other side raised its totals.
  mutating func receivedGrant(_ credit: Credit) {
    granted.frames = max(granted.frames, credit.frames)
    granted.bytes = max(granted.bytes, credit.bytes)
  }

  /// A received frame was consumed.
  mutating func didConsume(byteCount: Int) {
    returned.frames += 1
    returned.bytes += UInt64(byteCount)
  }

  /// The totals to announce now, if enough was consumed since the last announcement.
  mutating func announcement() -> Credit? {
    let frames = returned.frames + window.frames
    let bytes = returned.bytes + window.bytes
    guard (frames - announced.frames) * 4 >= window.frames || (bytes - announced.bytes) * 16 >= window.bytes else {
      return nil
    }
    announced = Credit(frames: frames, bytes: bytes)
    return announced
  }
}
