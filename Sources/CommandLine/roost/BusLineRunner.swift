internal import Bus
internal import DequeModule
internal import EventLoop
internal import Frames
internal import RoostClient
internal import Rendering

/// Runs the lines of one input.
///
/// `runningMaximum` requests and subscriptions run at once; further ones wait. While `waitingMaximum` of them or more
/// than `waitingByteCountMaximum` wait, no more of the input is read. Up to there a line that cancels something is
/// read, so that a program can end one of many streams.
@EventLoopActor
final class BusLineRunner {
  private let session: CommandSession
  private let input = StandardInput()
  private var splitter = InputLineSplitter(byteCountMaximum: FrameReader.lengthCeiling)
  private var running: [UInt64: Running] = [:]
  private var waiting = Deque<BusLine>()
  private var waitingByteCount = 0
  private var beganCount: UInt64 = 0
  private var reader: CheckedContinuation<Void, Never>?

  private struct Running {
    let id: [UInt8]
    let window: LineWindow
    let task: Task<Void, Never>
  }

  private static let runningMaximum = 256
  private static let waitingMaximum = 1_024
  private static let waitingByteCountMaximum = 4 << 20

  init(_ session: CommandSession) { self.session = session }

  func run() async throws(Refusal) {
    while true {
      let bytes = try await input.next()
      let isEnd = bytes.isEmpty
      for line in isEnd ? splitter.ended() : splitter.received(bytes) {
        while waiting.count >= Self.waitingMaximum || waitingByteCount > Self.waitingByteCountMaximum { await pause() }
        await received(line)
      }
      if isEnd { break }
    }
    while !running.isEmpty { await pause() }
  }

  /// Waits until something has ended.
  private func pause() async { await withCheckedContinuation { reader = $0 } }

  private func received(_ line: InputLineSplitter.Line) async {
    switch line {
    case .tooLong(let number):
      let text = "line \(number) is longer than \(FrameReader.lengthCeiling >> 20) MiB"
      await session.output.writeLine(BusReply.error(BusLine.Problem(message: text)))
    case .text(let bytes, let number):
      let line: BusLine
      do throws(BusLine.Problem) { line = try BusLine(line: bytes, number: number) } catch {
        await session.output.writeLine(BusReply.error(error))
        return
      }
      await received(line)
    }
  }

  private func received(_ line: BusLine) async {
    switch line {
    case .cancel(let id): await cancel(id)
    // What has ended already needs no more: the two may have met on the way.
    case .more(let id, let count): for entry in running.values where entry.id == id { entry.window.add(count) }
    case .request, .subscription:
      guard running.count < Self.runningMaximum else {
        waiting.append(line)
        waitingByteCount += line.byteCount
        return
      }
      begin(line)
    }
  }

  /// Gives up all that has this id. What has ended already is left alone.
  private func cancel(_ id: [UInt8]) async {
    for entry in running.values where entry.id == id {
      entry.task.cancel()
      entry.window.open()
    }
    let cancelled = waiting.count { $0.id == id }
    guard cancelled > 0 else { return }
    waiting.removeAll { $0.id == id }
    waitingByteCount = waiting.reduce(0) { $0 + $1.byteCount }
    let refusal = Refusal(.cancelled, "it was given up before it was sent", outcome: .notStarted)
    for _ in 0..<cancelled { await session.output.writeLine(BusReply.error(id: id, refusal)) }
  }

  private func begin(_ line: BusLine) {
    beganCount += 1
    let number = beganCount
    let window = LineWindow(line.window)
    let task = EventLoopActor.task {
      do throws(Refusal) {
        switch line {
        case .request(let request): try await self.pass(request, window)
        case .subscription(let wanted): try await self.follow(wanted, window)
        case .cancel, .more: break
        }
      } catch {
        await self.session.output.writeLine(BusReply.error(id: line.id, error))
      }
      self.ended(number)
    }
    running[number] = Running(id: line.id, window: window, task: task)
  }

  private func ended(_ number: UInt64) {
    running[number] = nil
    if let next = waiting.popFirst() {
      waitingByteCount -= next.byteCount
      begin(next)
    }
    reader?.resume()
    reader = nil
  }

  // A part is taken only when the one before it is written: a slow reader slows the worker.
  private func pass(_ request: BusLine.Request, _ window: LineWindow) async throws(Refusal) {
    let options = RequestOptions(
      worker: request.worker, ttlMilliseconds: request.ttlMilliseconds, isIdempotent: request.isIdempotent,
      atMostOnce: request.atMostOnce)
    let isNothing = request.parameters.isEmpty && !request.isRaw
    let payload = BusPayload(isNothing ? Array("{}".utf8) : request.parameters, isRaw: request.isRaw)
    let answer = try await session.client.stream(request.method, payload, options: options)
    let progress = ProgressLines(request.id, session.output)
    answer.onProgress = { progress.received($0.bytes) }
    do throws(Refusal) {
      while let part = try await answer.nextPart() {
        if !part.isLast { await window.take() }
        await progress.settle()
        await session.output.writeLine(
          BusReply.part(id: request.id, payload: part.payload.bytes, isRaw: part.payload.isRaw, isLast: part.isLast))
        if part.isLast { return }
      }
    } catch {
      await progress.settle()
      throw error
    }
    await progress.settle()
    await session.output.writeLine(BusReply.end(id: request.id))
  }

  private func follow(_ wanted: BusLine.Subscription, _ window: LineWindow) async throws(Refusal) {
    let lines = TopicLines(wanted.id, session.output)
    let subscription = try await session.client.subscribe(wanted.topic, onGap: { lines.missed($0) }) {
      lines.received($0)
    }
    subscription.onEnd = { lines.ended($0) }
    defer { subscription.cancel() }
    await session.output.writeLine(BusReply.subscribed(id: wanted.id))
    try await lines.write(window)
  }
}

extension BusLine {
  fileprivate var id: [UInt8] {
    switch self {
    case .request(let request): request.id
    case .subscription(let wanted): wanted.id
    case .cancel(let id), .more(let id, _): id
    }
  }

  fileprivate var window: UInt32? {
    switch self {
    case .request(let request): request.window
    case .subscription(let wanted): wanted.window
    case .cancel, .more: nil
    }
  }

  fileprivate var byteCount: Int {
    if case .request(let request) = self { request.parameters.count } else { 0 }
  }
}

/// How many parts or events of one id may still be written. The program grants more as it takes them, so that an
/// answer that it does not take now is no obstacle for another.
@EventLoopActor
private final class LineWindow {
  /// Nil: any number.
  private var left: UInt64?
  private var writer: CheckedContinuation<Void, Never>?

  init(_ count: UInt32?) { left = count.map { UInt64($0) } }

  /// Waits until one more may be written.
  func take() async {
    while left == 0 { await withCheckedContinuation { writer = $0 } }
    if let count = left { left = count - 1 }
  }

  func add(_ count: UInt32) {
    guard let before = left else { return }
    left = before &+ UInt64(count)
    wake()
  }

  /// From now on any number may be written.
  func open() {
    left = nil
    wake()
  }

  private func wake() {
    writer?.resume()
    writer = nil
  }
}

/// The progress of one request. While a line is being written, only the latest progress is kept: a slow reader needs
/// the present state of the work, not the past.
@EventLoopActor
private final class ProgressLines {
  private let id: [UInt8]
  private let output: StandardOutput
  private var waiting: [UInt8]?
  private var writer: Task<Void, Never>?

  init(_ id: [UInt8], _ output: StandardOutput) {
    self.id = id
    self.output = output
  }

  func received(_ payload: [UInt8]) {
    waiting = payload
    guard writer == nil else { return }
    writer = EventLoopActor.task { await self.write() }
  }

  /// Waits until all progress is written, so that the next line does not overtake it.
  func settle() async { await writer?.value }

  private func write() async {
    while let payload = waiting {
      waiting = nil
      await output.writeLine(BusReply.progress(id: id, payload: payload))
    }
    writer = nil
  }
}

/// The events of one subscription. Events that come while `countMaximum` of them or more than `byteCountMaximum` wait
/// for the reader are dropped, and a line says at their place how many: as the hub does with a client that does not
/// keep up.
@EventLoopActor
private final class TopicLines {
  private enum Entry {
    case event(BusPayload)
    case missed(UInt64?)
  }

  private let id: [UInt8]
  private let output: StandardOutput
  private var entries = Deque<Entry>()
  private var byteCount = 0
  private var ending: Refusal?
  private var writer: CheckedContinuation<Void, Never>?

  private static let countMaximum = 256
  private static let byteCountMaximum = 1 << 20

  init(_ id: [UInt8], _ output: StandardOutput) {
    self.id = id
    self.output = output
  }

  func received(_ payload: BusPayload) {
    guard entries.count < Self.countMaximum, byteCount <= Self.byteCountMaximum else { return missed(.dropped(1)) }
    byteCount += payload.bytes.count
    append(.event(payload))
  }

  /// Events are missing; one line says it of all that are missing at one place.
  func missed(_ gap: TopicGap) {
    var count: UInt64? = if case .dropped(let dropped) = gap { dropped } else { nil }
    if case .missed(let before)? = entries.last {
      entries.removeLast()
      count = count.flatMap { new in before.map { $0 + new } }
    }
    append(.missed(count))
  }

  func ended(_ refusal: Refusal) {
    ending = refusal
    wake()
  }

  /// Writes what comes, until the subscription ends or the task is cancelled.
  func write(_ window: LineWindow) async throws(Refusal) {
    while !Task.isCancelled {
      if !entries.isEmpty {
        await window.take()
        guard let entry = entries.popFirst() else { continue }
        switch entry {
        case .event(let payload):
          byteCount -= payload.bytes.count
          await output.writeLine(BusReply.event(id: id, payload: payload.bytes, isRaw: payload.isRaw))
        case .missed(let count): await output.writeLine(BusReply.missed(id: id, count: count))
        }
        continue
      }
      if let ending { throw ending }
      await withTaskCancellationHandler {
        await withCheckedContinuation { writer = $0 }
      } onCancel: {
        EventLoopActor.task { self.wake() }
      }
    }
    throw Refusal(.cancelled, "the subscription was given up", outcome: .done)
  }

  private func append(_ entry: Entry) {
    entries.append(entry)
    wake()
  }

  private func wake() {
    writer?.resume()
    writer = nil
  }
}
