internal import EventLoop
internal import Frames

// Who may send next. Frames that spend credit wait in two lines: requests that are made while this worker serves one,
// and everything else. A quarter of the window is kept for the first, because somebody waits for them who may himself
// hold what this worker waits for.
//
// Ids are given when a frame's turn has come, since they must increase on the connection in the order of sending.

extension BusConnection {
  /// Which line a frame waits in.
  enum Lane {
    /// Parts, events, and requests of this peer's own.
    case common
    /// Requests made while a request is served.
    case nested
  }

  /// Most senders that wait for credit at once; one more is refused (`full`). More than the event-store has observers:
  /// one event may be for all of them.
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

  /// Sends a frame that spends credit, at once if there is credit and nobody waits.
  ///
  /// - Returns: false when it has to wait.
  func sendNow(_ header: FrameHeader, _ payload: [UInt8]) -> Bool {
    guard ending == nil, takeTurn(byteCount: payload.count, in: .common) else { return false }
    sendFree(header, payload)
    return true
  }

  /// Waits for credit for one frame, after those who came before. The caller then sends it without another await.
  ///
  /// - Throws: when the connection has ended, the payload is too large, too many wait, or ``dismissSenders(of:)`` was
  ///   called for `owner` (`cancelled`).
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

  /// One more sender may wait.
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

  /// Lets those who wait for credit go, as far as it reaches. Their frames count as sent from here on.
  func moveLines() {
    for lane in [Lane.nested, .common] {
      while let byteCount = lines[lane].firstByteCount, hasCredit(in: lane) {
        ledger.didSend(byteCount: byteCount)
        lines[lane].releaseFirst()
      }
    }
  }

  /// Parts of this request's answer that stand in line are not sent: nobody waits for them any more.
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
