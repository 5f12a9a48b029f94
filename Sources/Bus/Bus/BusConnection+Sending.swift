internal import EventLoop
internal import Frames

// Which sender is next. Frames that spend credit wait in two lines: requests that this worker makes while it serves a
// request, and everything else. A quarter of the window is reserved for the first line, because a caller waits for
// these requests, and that caller may hold what this worker waits for.
//
// A frame gets its id when its turn comes, because ids must increase on the connection in the order of sending.

extension BusConnection {
  /// The line that a frame waits in.
  enum Lane {
    /// Parts, events, and requests that this peer makes on its own.
    case common
    /// Requests that it makes while it serves a request.
    case nested
  }

  /// The maximum number of senders that wait for credit; further ones are refused (`full`). It is more than the number
  /// of observers of the event-store, because one event may go to all of them.
  public static let waitingSenderMaximum = 32_768

  /// Sends a frame that needs no credit.
  func sendFree(_ header: FrameHeader, _ payload: [UInt8] = []) {
    var header = header
    header.payloadByteCount = payload.count
    stream.write(byteCount: header.frameByteCount) { bytes in
      guard let base = bytes.baseAddress else { return }
      header.write(to: base)
      UnsafeMutableRawBufferPointer(rebasing: bytes[FrameHeader.byteCount...]).copyBytes(from: payload)
    }
  }

  /// Sends a frame that spends credit, if there is credit now and no sender waits.
  ///
  /// - Returns: false when the frame has to wait.
  func sendNow(_ header: FrameHeader, _ payload: [UInt8]) -> Bool {
    guard ending == nil, takeTurn(byteCount: payload.count, in: .common) else { return false }
    sendFree(header, payload)
    return true
  }

  /// Waits for credit for one frame, after the senders that came before. The caller then sends the frame without
  /// another await.
  ///
  /// - Throws: when the connection has ended, the payload is too large, too many senders wait, or
  ///   ``dismissSenders(of:)`` was called for `owner` (`cancelled`).
  func awaitTurn(byteCount: Int, in lane: Lane = .common, owner: BusRequest? = nil) async throws(Refusal) {
    try checkSize(byteCount)
    if let ending { throw ending }
    if takeTurn(byteCount: byteCount, in: lane) { return }
    try checkWaiting()
    let hasTurn = await withCheckedContinuation {
      lines[lane].append(byteCount: byteCount, owner: owner.map(ObjectIdentifier.init), $0)
    }
    lines[lane].didLeave()
    moveLines()
    if let ending { throw ending }
    if !hasTurn { throw BusRequest.unwanted }
  }

  /// Checks that one more sender may wait.
  func checkWaiting() throws(Refusal) {
    guard waitingCount < Self.waitingSenderMaximum else {
      throw Refusal(.full, "\(waitingCount) frames wait for credit on this connection already", outcome: .notStarted)
    }
  }

  private var waitingCount: Int { lines.common.count + lines.nested.count + partsWaitingCount }

  private func checkSize(_ byteCount: Int) throws(Refusal) {
    let maximum = welcome.frameLimit - FrameHeader.lengthMinimum
    guard byteCount <= maximum else {
      throw Refusal(
        .badRequest, "the payload has \(byteCount) bytes; this connection carries at most \(maximum)",
        outcome: .notStarted)
    }
  }

  private func takeTurn(byteCount: Int, in lane: Lane) -> Bool {
    guard lines[lane].isEmpty, hasCredit(in: lane) else { return false }
    ledger.didSend(byteCount: byteCount)
    return true
  }

  private func hasCredit(in lane: Lane) -> Bool { lane == .nested ? ledger.hasCredit : ledger.hasCreditBeyondReserve }

  /// Releases waiting senders until the credit is used up. From here on their frames count as sent.
  func moveLines() {
    for lane in [Lane.nested, .common] {
      while let byteCount = lines[lane].firstByteCount, hasCredit(in: lane) {
        ledger.didSend(byteCount: byteCount)
        lines[lane].releaseFirst()
      }
    }
  }

  /// Drops the waiting parts of this request's answer, because no caller waits for them.
  func dismissSenders(of request: BusRequest) { lines.common.dismiss(ownedBy: ObjectIdentifier(request)) }

  /// The two lines.
  struct Lines {
    var common = SenderQueue()
    var nested = SenderQueue()

    subscript(lane: Lane) -> SenderQueue {
      _read {
        if lane == .common { yield common } else { yield nested }
      }
      _modify {
        if lane == .common { yield &common } else { yield &nested }
      }
    }
  }
}
