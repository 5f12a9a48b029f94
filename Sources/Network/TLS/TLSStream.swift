internal import EventLoop
internal import Glibc
internal import WebSocket

// An encrypted stream over a `ByteStream`, with the same contract.
//
// Back-pressure. Once the consumer has stopped reading, nothing is decrypted: bytes already read from the socket stay
// in the `ByteStream` as ciphertext (one read of it), the socket is not read, and TCP slows the other side down. Here
// only the decrypted bytes remain that the consumer left unused in the round in which it stopped (at most 64 KB).
//
// A round decrypts into memory that lives only for the round, after the bytes that the consumer left before. So an idle
// stream holds no decrypted memory, and rounds of several streams may be nested, as when a message of one resumes
// another. Bytes that `startReading` makes readable are read at the end of the turn, never inside that call.
//
// Output is encrypted at once. If it must wait, it waits as ciphertext in the `ByteStream`, which counts and bounds it.
//
// End. `finishWriting` and `flushAndClose` send close_notify first, if the socket takes it, and do not wait for the
// answer; `close` sends nothing. A stream that ends without close_notify may have been cut by an attacker on the way,
// so its end is reported as a fault. The WebSocket above needs no more: its close frame says whether everything has
// arrived.

/// A TLS connection as a transport.
@EventLoopActor
final class TLSStream: ByteTransport {
  var onInput: (@EventLoopActor (UnsafeMutableRawBufferPointer) -> Int)?
  var onEnd: (@EventLoopActor (LoopFault?) -> Void)?
  var onDrained: (@EventLoopActor () -> Void)?

  private let stream: ByteStream
  private let engine: TLSEngine
  /// Bytes that were decrypted and not used.
  private var rest: [UInt8] = []
  private var wantsReading = false
  private var isOffering = false
  private var isContinuing = false
  private var isOver = false

  /// Decrypted bytes that are offered at once.
  private static let roundByteCount = 4 * TLSEngine.recordByteCountMaximum
  /// Above this many unused decrypted bytes the stream ends with ENOBUFS, like a stream without TLS.
  private static let restLimit = 2 << 20

  /// Takes over a stream after its handshake, while it does not read.
  init(_ stream: ByteStream, _ engine: TLSEngine) {
    self.stream = stream
    self.engine = engine
    stream.onInput = { [weak self] bytes in self?.receive(UnsafeRawBufferPointer(bytes)) ?? bytes.count }
    stream.onEnd = { [weak self] fault in self?.streamEnded(fault) }
    stream.onDrained = { [weak self] in self?.onDrained?() }
  }

  isolated deinit { close() }

  var isClosed: Bool { isOver }

  // MARK: Reading

  func startReading() {
    guard !isOver else { return }
    wantsReading = true
    stream.startReading()
    guard !isOffering, !isContinuing else { return }
    isContinuing = true
    EventLoop.process.atTurnEnd { [weak self] in self?.continueReading() }
  }

  func stopReading() {
    wantsReading = false
    stream.stopReading()
  }

  func offerRest() {
    guard !rest.isEmpty, !isOffering, !isOver else { return }
    let taken = rest
    rest = []
    withRound(of: taken.count) { round in
      round.copyBytes(from: taken)
      offer(round)
    }
  }

  /// First the part of a record that libssl has, then what the stream has kept.
  private func continueReading() {
    isContinuing = false
    guard wantsReading, !isOffering, !isOver else { return }
    _ = receive(UnsafeRawBufferPointer(start: nil, count: 0))
    if wantsReading { stream.offerRest() }
  }

  private func receive(_ bytes: UnsafeRawBufferPointer) -> Int {
    guard wantsReading, !isOffering, !isOver else { return isOver ? bytes.count : 0 }
    var outcome = TLSEngine.Reading.needsInput
    let unread = engine.lend(bytes) {
      repeat { outcome = readRound() } while !isOver && wantsReading && outcome.isMore
    }
    sendOutput()
    switch outcome {
    case .bytes, .needsInput: break
    case .ended: end(nil)
    case .failed(let words):
      end(LoopFault(code: -EPROTO, doing: "read records of TLS (\(words))"))
    }
    return isOver ? bytes.count : bytes.count - unread
  }

  /// Decrypts as much as a round holds, and offers it after the bytes that were left before.
  private func readRound() -> TLSEngine.Reading {
    var outcome = TLSEngine.Reading.needsInput
    withRound(of: rest.count + Self.roundByteCount) { round in
      round.copyBytes(from: rest)
      var count = rest.count
      let before = count
      reading: while count < round.count {
        outcome = engine.read(into: UnsafeMutableRawBufferPointer(rebasing: round[count...]))
        guard case .bytes(let more) = outcome else { break reading }
        count += more
      }
      guard count > before else { return }
      rest = []
      offer(UnsafeMutableRawBufferPointer(rebasing: round[..<count]))
    }
    return outcome
  }

  private func offer(_ bytes: UnsafeMutableRawBufferPointer) {
    isOffering = true
    let used = onInput?(bytes) ?? 0
    isOffering = false
    guard !isOver else { return }
    rest = Array(bytes[used...])
    if rest.count > Self.restLimit {
      end(LoopFault(code: -ENOBUFS, doing: "hold \(rest.count) bytes of unusable input"))
    }
  }

  private func withRound(of byteCount: Int, _ body: (UnsafeMutableRawBufferPointer) -> Void) {
    let round = UnsafeMutableRawBufferPointer.allocate(byteCount: byteCount, alignment: 16)
    body(round)
    round.deallocate()
  }

  // MARK: Writing

  var pendingByteCount: Int { stream.pendingByteCount }

  func write(_ bytes: UnsafeRawBufferPointer) {
    guard !isOver else { return }
    var position = 0
    while position < bytes.count {
      let end = min(bytes.count, position + TLSEngine.recordByteCountMaximum)
      engine.write(UnsafeRawBufferPointer(rebasing: bytes[position..<end]))
      sendOutput()
      position = end
    }
  }

  private func sendOutput() { engine.takeOutput { stream.write($0) } }

  // MARK: Ending

  func close() {
    guard !isOver else { return }
    shut()
    stream.close()
  }

  func finishWriting() {
    guard !isOver else { return }
    engine.sayGoodbye()
    sendOutput()
    stream.finishWriting()
  }

  func flushAndClose() {
    guard !isOver else { return }
    shut()
    engine.sayGoodbye()
    sendOutput()
    stream.flushAndClose()
  }

  private func shut() {
    isOver = true
    wantsReading = false
    onInput = nil
    onEnd = nil
    onDrained = nil
    rest = []
  }

  private func streamEnded(_ fault: LoopFault?) {
    end(fault ?? LoopFault(code: -ECONNABORTED, doing: "read records of TLS (cut without a close_notify)"))
  }

  private func end(_ fault: LoopFault?) {
    guard !isOver else { return }
    let callback = onEnd
    flushAndClose()
    callback?(fault)
  }
}

extension TLSEngine.Reading {
  /// Whether there may be more to decrypt.
  fileprivate var isMore: Bool { if case .bytes = self { true } else { false } }
}
