public import Clocks
public import EventLoop
public import Frames

extension BusConnection {
  /// Sends HELLO over a connected stream and waits for the hub's WELCOME.
  ///
  /// The caller sets the handlers and then calls ``start()``.
  ///
  /// - Throws: the hub's reason when it refuses, `disconnected` when it closes the connection, `too-slow` at the
  ///   deadline.
  public static func open(
    _ stream: ByteStream, greeting: Hello, deadline: Instant
  ) async throws(Refusal) -> BusConnection {
    var greeting = greeting
    greeting.answerCredit = true
    greeting.callerRole = greeting.role == "client" ? nil : true
    // A worker consumes its answers as they arrive. In a client, an answer that the program does not read must not
    // block its other answers.
    greeting.answerGrants = greeting.role == "client"
    let window = greeting.window ?? .standard
    let payload = JSONPayload.encode(greeting)
    let header = FrameHeader(type: .hello, payloadByteCount: payload.count)
    stream.write(byteCount: header.frameByteCount) { bytes in
      guard let base = bytes.baseAddress else { return }
      header.write(to: base)
      UnsafeMutableRawBufferPointer(rebasing: bytes[FrameHeader.byteCount...]).copyBytes(from: payload)
    }
    let result = await awaitWelcome(on: stream, deadline: deadline)
    let welcome: Welcome
    do throws(Refusal) { welcome = try result.get() } catch {
      stream.close()
      throw error
    }
    guard welcome.protocol == FrameHeader.version else {
      stream.close()
      throw Refusal(.badVersion, "the hub speaks RBP/\(welcome.protocol), this program RBP/\(FrameHeader.version)")
    }
    let serves = greeting.methods?.isEmpty == false
    return BusConnection(stream: stream, welcome: welcome, window: window, serves: serves)
  }

  /// Starts to receive frames, after the handlers are set. Frames that arrived after WELCOME are not lost.
  public func start() {
    stream.offerRest()
    stream.startReading()
  }

  private static func awaitWelcome(on stream: ByteStream, deadline: Instant) async -> Result<Welcome, Refusal> {
    let timer = LoopTimer()
    defer { timer.cancel() }
    return await withCheckedContinuation { continuation in
      var isWaiting = true
      @EventLoopActor func finish(_ result: Result<Welcome, Refusal>) {
        guard isWaiting else { return }
        isWaiting = false
        stream.stopReading()
        stream.onEnd = nil
        continuation.resume(returning: result)
      }
      timer.set(at: deadline) { finish(.failure(Refusal(.tooSlow, "the supervisor did not answer HELLO in time"))) }
      stream.onEnd = { fault in
        let reason = fault.map { "\($0)" } ?? "it closed the connection without a word"
        finish(.failure(Refusal(.disconnected, "the supervisor did not welcome us: \(reason)")))
      }
      stream.onInput = { bytes in
        guard isWaiting else { return 0 }
        return readWelcome(UnsafeRawBufferPointer(bytes)) { finish($0) }
      }
      stream.startReading()
    }
  }

  private static func readWelcome(
    _ bytes: UnsafeRawBufferPointer, _ finish: (Result<Welcome, Refusal>) -> Void
  ) -> Int {
    do throws(FrameViolation) {
      let reader = FrameReader(lengthMaximum: FrameReader.lengthCeiling)
      guard case .frame(let header, let payload) = try reader.next(in: bytes) else { return 0 }
      switch header.type {
      case .welcome: finish(Result { () throws(Refusal) in try JSONPayload.decode(Welcome.self, from: payload) })
      case .fatal:
        // The connection also ends when the reason cannot be read.
        let refusal = try? JSONPayload.decode(Refusal.self, from: payload)
        finish(.failure(refusal ?? Refusal(.failed, "the hub ended the connection for a reason that cannot be read")))
      default: finish(.failure(Refusal(.outOfTurn, "the hub began with \(header.type) instead of WELCOME")))
      }
      return header.frameByteCount
    } catch {
      finish(.failure(Refusal(error.code, "what answers there does not speak RBP/1: \(error.message)")))
      return bytes.count
    }
  }
}
