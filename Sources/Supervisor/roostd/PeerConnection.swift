import Clocks
import EventLoop
import Frames
import LinuxSystem
import MessageHub
import Recordings

/// One connection to the bus, managed, attached or client: its stream, its seat once it has one, and what the kernel
/// says of the process at its other end.
///
/// Before HELLO a connection has no seat and may say nothing else. The reader checks lengths before anything is kept,
/// and a frame that stays half-sent is cut after a deadline, so a peer can hold neither memory nor attention.
@EventLoopActor
final class PeerConnection {
  enum Origin {
    /// Spawned by us, over its socketpair.
    case managed(worker: String, generation: UInt32)
    /// Over the listening socket.
    case socket(PeerCredentials)
  }

  /// What a connection is on the bus; its end means something else in each role.
  enum Role {
    /// It has said no HELLO, or one that was refused.
    case greeting
    /// A worker that roostd started.
    case managed(SeatIndex)
    /// A worker started by hand, for the place of a worker of the configuration; without a seat until that is free.
    case visitor(ManagedWorker, SeatIndex?)
    /// A worker started by hand that no configuration names.
    case guest(name: String, SeatIndex)
    case client(SeatIndex)
  }

  let stream: ByteStream
  let origin: Origin
  var role = Role.greeting
  /// The seat on the bus; nil before it has one.
  var seat: SeatIndex? {
    switch role {
    case .greeting: nil
    case .visitor(_, let seat): seat
    case .managed(let seat), .guest(_, let seat), .client(let seat): seat
    }
  }
  /// What the peer calls itself.
  var name = "?"
  /// The name of a worker started by hand: of the managed one whose place it takes, or its own.
  var attachedTo: String? {
    switch role {
    case .visitor(let worker, _): worker.name
    case .guest(let name, _): name
    case .greeting, .managed, .client: nil
    }
  }
  /// Whether it is that of a worker which we have started.
  var isManaged: Bool { if case .managed = origin { true } else { false } }
  /// Whether it is a worker's, of whatever kind.
  var isWorker: Bool { isManaged || attachedTo != nil }
  /// Gets every frame, while this connection is recorded.
  var recording: BusRecording?
  /// Frames of this connection go here. What it leaves goes to the consumer that is here then, or is kept until the
  /// next read.
  var onFrames: (@EventLoopActor (inout FrameRun) throws(FrameViolation) -> Void)?
  /// Called once at the end, on whichever side it came.
  var onEnd: (@EventLoopActor (String) -> Void)?
  /// Called before ``onEnd`` with ``overflow``, when it is cut for that.
  var onOverflow: (@EventLoopActor (String) -> Void)?
  /// Called with a protocol violation found in the bytes themselves.
  var onViolation: (@EventLoopActor (FrameViolation) -> Void)?

  private var reader: FrameReader
  private let deadlineTimer = LoopTimer()
  private let partialDeadlineMilliseconds: UInt64
  /// When the frame that is still arriving can have begun; nil between frames.
  private var partialSince: Instant?
  private var isWatchingPartial = false
  private var stall: (written: UInt64, since: Instant)?

  /// A connection that has not said HELLO: that is all it may send, and a longer frame is refused by its header.
  init(stream: ByteStream, origin: Origin, outputLimit: Int, partialDeadlineMilliseconds: UInt64) {
    self.stream = stream
    self.origin = origin
    self.partialDeadlineMilliseconds = partialDeadlineMilliseconds
    reader = FrameReader(lengthMaximum: Hello.byteCountMaximum + FrameHeader.lengthMinimum)
    stream.outputLimit = outputLimit
    limitInput()
    stream.onInput = { [unowned self] in received($0) }
    stream.onEnd = { [unowned self] fault in
      if let overflow {
        onOverflow?(overflow)
        ended("it \(overflow)")
      } else {
        ended(fault.map { "\($0)" } ?? "the connection was closed")
      }
    }
  }

  /// What it left unread, if it was cut for that; reads after "it".
  var overflow: String? {
    stream.overflowByteCount.map { count in
      let (held, limit) = (Amount.bytes(UInt64(count)), Amount.bytes(UInt64(stream.outputLimit)))
      return "left \(held) unread, more than output-limit (\(limit)) allows, and was cut from the bus"
    }
  }

  /// Starts to read; the first frame must come before the deadline.
  func begin(helloDeadlineMilliseconds: UInt64) {
    deadlineTimer.set(afterMilliseconds: helloDeadlineMilliseconds) { [unowned self] in
      onViolation?(.rule(.tooSlow, "no HELLO within \(helloDeadlineMilliseconds) ms"))
    }
    stream.startReading()
  }

  /// When its HELLO was accepted.
  private(set) var joinedAt = EventLoop.process.now

  /// HELLO was accepted.
  func didJoin() {
    deadlineTimer.cancel()
    joinedAt = EventLoop.process.now
  }

  /// Leaves what comes from now on unread, what has come with HELLO included, until ``resume()``.
  func hold() {
    onFrames = { _ in }
    stream.stopReading()
  }

  /// Reads on where ``hold()`` left off.
  func resume() {
    stream.offerRest()
    stream.startReading()
  }

  /// Both sides agreed on this length limit.
  func limitFrames(to limit: Int) {
    reader.lengthMaximum = limit
    limitInput()
  }

  /// Bytes of a read that may be there beyond a frame that is still arriving.
  private static let readByteCount = 256 << 10

  /// A frame that is still arriving, and a read behind it, are all that is held.
  private func limitInput() { stream.inputLimit = reader.lengthMaximum + FrameHeader.byteCount + Self.readByteCount }

  /// Whether the other side takes a frame with so much payload.
  func takes(payloadByteCount: Int) -> Bool { payloadByteCount + FrameHeader.byteCount <= reader.lengthMaximum }

  /// Whether output has been waiting without any of it being read for so long. Meant to be asked every few seconds.
  func isStalled(now: Instant, milliseconds: UInt64) -> Bool {
    let pending = stream.pendingByteCount
    guard pending > 0, let stall, stall.written == stream.writtenByteCount else {
      stall = pending > 0 ? (stream.writtenByteCount, now) : nil
      return false
    }
    return now.milliseconds(since: stall.since) > milliseconds
  }

  func send(_ header: FrameHeader, _ payload: UnsafeRawBufferPointer) {
    recording?.record(.toWorker, header, payload)
    stream.write(byteCount: FrameHeader.byteCount + payload.count) { bytes in
      guard let base = bytes.baseAddress else { return }
      header.write(to: base)
      if let source = payload.baseAddress {
        (base + FrameHeader.byteCount).copyMemory(from: source, byteCount: payload.count)
      }
    }
  }

  func send(_ type: FrameType, json value: some Encodable, ttlMilliseconds: UInt32 = 0) {
    let payload = JSONPayload.encode(value)
    payload.withUnsafeBytes {
      send(FrameHeader(type: type, ttlMilliseconds: ttlMilliseconds, payloadByteCount: payload.count), $0)
    }
  }

  /// Says why, if the peer still reads, and closes. ``onEnd`` is called.
  func cut(_ refusal: Refusal) {
    guard !stream.isClosed else { return }
    send(.fatal, json: refusal)
    stream.flush()
    ended(refusal.message)
  }

  /// Closes without a word. ``onEnd`` is called.
  func close(_ reason: String) {
    stream.flush()
    ended(reason)
  }

  private func ended(_ reason: String) {
    deadlineTimer.cancel()
    stream.close()
    recording?.end(RecordingEnd(.connection, reason))
    recording = nil
    let callback = onEnd
    onEnd = nil
    onOverflow = nil
    onFrames = nil
    onViolation = nil
    callback?(reason)
  }

  private func received(_ bytes: UnsafeMutableRawBufferPointer) -> Int {
    var used = 0
    do throws(FrameViolation) {
      // More than once only where the first frame puts another consumer in its place.
      while let onFrames {
        var run = FrameRun(UnsafeRawBufferPointer(rebasing: bytes[used...]), reader: reader)
        try onFrames(&run)
        used += run.usedByteCount
        if run.usedByteCount == 0 || used == bytes.count { break }
      }
    } catch {
      onViolation?(error)
      return bytes.count
    }
    if stream.isClosed { return bytes.count }
    watchPartial(used < bytes.count, hasMoved: used > 0)
    return used
  }

  /// A frame that has begun must end. Under load every read ends inside some frame: the time counts from the last whole
  /// one, and the timer is left to find that out, because setting it again at every read costs more.
  private func watchPartial(_ isPartial: Bool, hasMoved: Bool) {
    guard isPartial else {
      partialSince = nil
      return
    }
    if hasMoved || partialSince == nil { partialSince = EventLoop.process.turnStart }
    if seat != nil, !isWatchingPartial { checkPartial(afterMilliseconds: partialDeadlineMilliseconds) }
  }

  private func checkPartial(afterMilliseconds wait: UInt64) {
    isWatchingPartial = true
    deadlineTimer.set(afterMilliseconds: wait) { [unowned self] in
      isWatchingPartial = false
      guard let partialSince else { return }
      let age = EventLoop.process.now.milliseconds(since: partialSince)
      if age < partialDeadlineMilliseconds {
        checkPartial(afterMilliseconds: partialDeadlineMilliseconds - age)
      } else {
        onViolation?(.rule(.tooSlow, "a frame stayed unfinished for \(partialDeadlineMilliseconds) ms"))
      }
    }
  }
}
