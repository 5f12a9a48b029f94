internal import ArgumentParser
internal import Bus
internal import EventLoop
internal import Frames
internal import RoostClient
internal import Rendering

/// `roost pipe`
struct Pipe: LoopCommand {
  static let configuration = CommandConfiguration(
    abstract: "Answers requests line by line: JSON in, JSON out, many at once.",
    discussion: """
      A request is one line, an answer one or more:

        {"id":1,"method":"relay.list","params":{}}

        {"id":1,"progress":…}    what the worker says while it works
        {"id":1,"part":…}        as parts come, then one of
        {"id":1,"result":…}
        {"id":1,"error":{"code":…,"message":…}}

      A request may also have "to":"WORKER", "ttlMilliseconds":5000 and "atMostOnce":true. \
      'id' is any JSON and comes back unchanged; answers come in the order in which they are ready. Ends when the input ends \
      and everything is answered.
      """)
  @OptionGroup var general: GeneralOptions

  func run(in session: CommandSession) async throws(Refusal) -> ExitStatus {
    try await session.client.connect()
    try session.onInterrupt(.interrupted) {}
    try await PipeRunner(session).run()
    return .done
  }
}

/// Runs the requests of one input. With `requestMaximum` in flight it reads no further until one is answered.
@EventLoopActor
private final class PipeRunner {
  private let session: CommandSession
  private let input = StandardInput()
  private var splitter = InputLineSplitter(byteCountMaximum: FrameReader.lengthCeiling)
  private var runningCount = 0
  private var waiter: CheckedContinuation<Void, Never>?

  /// The maximum number of requests in flight.
  private static let requestMaximum = 256

  init(_ session: CommandSession) { self.session = session }

  func run() async throws(Refusal) {
    while true {
      let bytes = try await input.next()
      let isEnd = bytes.isEmpty
      for line in isEnd ? splitter.ended() : splitter.received(bytes) {
        await wait(untilAtMost: Self.requestMaximum - 1)
        await start(line)
      }
      if isEnd { break }
    }
    await wait(untilAtMost: 0)
  }

  private func wait(untilAtMost count: Int) async {
    while runningCount > count { await withCheckedContinuation { waiter = $0 } }
  }

  private func start(_ line: InputLineSplitter.Line) async {
    switch line {
    case .tooLong(let number):
      let text = "line \(number) is longer than \(FrameReader.lengthCeiling >> 20) MiB"
      await session.output.writeLine(PipeAnswer.error(PipeRequest.Problem(message: text)))
    case .text(let bytes, let number):
      do throws(PipeRequest.Problem) {
        let request = try PipeRequest(line: bytes, number: number)
        runningCount += 1
        EventLoopActor.task { await self.answer(request) }
      } catch {
        await session.output.writeLine(PipeAnswer.error(error))
      }
    }
  }

  private func answer(_ request: PipeRequest) async {
    do throws(Refusal) { try await pass(request) } catch {
      await session.output.writeLine(PipeAnswer.error(id: request.id, error))
    }
    runningCount -= 1
    waiter?.resume()
    waiter = nil
  }

  private func pass(_ request: PipeRequest) async throws(Refusal) {
    let options = RequestOptions(
      worker: request.worker, ttlMilliseconds: request.ttlMilliseconds, atMostOnce: request.atMostOnce)
    let arguments = request.parameters.isEmpty ? Array("{}".utf8) : request.parameters
    let answer = try await session.client.stream(request.method, BusPayload(arguments), options: options)
    let progress = PipeProgress(request.id, session.output)
    answer.onProgress = { progress.received($0.bytes) }
    do throws(Refusal) {
      while let part = try await answer.nextPart() {
        await progress.settle()
        await session.output.writeLine(
          PipeAnswer.part(
            id: request.id, payload: part.payload.bytes, isRaw: part.payload.isRaw, isLast: part.isLast))
        if part.isLast { return }
      }
    } catch {
      await progress.settle()
      throw error
    }
    await progress.settle()
    await session.output.writeLine(PipeAnswer.end(id: request.id))
  }
}

/// The progress of one request. While a line is being written, only the latest progress is kept: a slow reader needs
/// the present state of the work, not the past.
@EventLoopActor
private final class PipeProgress {
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
      await output.writeLine(PipeAnswer.progress(id: id, payload: payload))
    }
    writer = nil
  }
}
