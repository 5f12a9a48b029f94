import Frames
import Glibc

/// The methods: one for each thing that can go wrong in the middle of work, and a few that behave.
extension Worker {
  struct Method: Sendable {
    /// Whether it misbehaves in the first deliveries only and answers like echo later.
    var isOnce = true
    var body: @Sendable (inout Worker, Request) -> Void
  }

  static let methods: [String: Method] = {
    var methods: [String: Method] = [:]
    for (name, body) in wellBehaved { methods["example." + name] = Method(isOnce: false, body: body) }
    for (name, body) in inItsAnswers { methods["example." + name] = Method(body: body) }
    for (name, body) in inItsBytes { methods["example." + name] = Method(body: body) }
    for (name, body) in inItsProcess { methods["example." + name] = Method(body: body) }
    return methods
  }()

  typealias Bodies = KeyValuePairs<String, @Sendable (inout Worker, Request) -> Void>

  private static var wellBehaved: Bodies {
    [
      "echo": { worker, request in
        if let text = worker.flags.says { worker.answer(request, text) } else { worker.answer(request) }
      },
      // Takes its time, and goes on serving meanwhile.
      "slow": { worker, request in
        worker.later.append((milliseconds() + (request.order.milliseconds ?? 100), request))
      },
      "parts": { $0.stream($1) },
      "flow": { $0.beginFlow($1) },
      "append": { $0.append($1) },
      "once": { $0.once($1) },
      "who": { $0.tellWho($1) },
      "accept": { worker, request in
        worker.pipe.send(worker.answerHeader(request, .ack))
        worker.later.append((milliseconds() + (request.order.milliseconds ?? 100), request))
      },
      // Says how far it is before it answers, and once only that it is.
      "progress": { worker, request in
        for number in 1...(request.order.parts ?? 1) {
          worker.pipe.send(worker.answerHeader(request, .progress), Array(#"{"text":"\#(number)"}"#.utf8))
        }
        worker.answer(request)
      },
      "publish": { $0.publish($1) },
      "extend": { worker, request in
        worker.pipe.send(
          FrameHeader(type: .extend, ttlMilliseconds: UInt32(clamping: request.order.milliseconds ?? 1_000)))
        worker.answer(request)
      },
      // The next frame after this answer is read up to byte `at`, then it dies.
      "arm": { worker, request in
        worker.armedAt = request.order.at ?? 0
        worker.answer(request)
      },
      // An EVENT, by name, so that the registry has a number for it.
      "notice": { $0.answer($1) },
    ]
  }

  private static var inItsAnswers: Bodies {
    [
      "answer-twice": { worker, request in
        worker.answer(request)
        worker.answer(request)
      },
      "answer-stranger": { worker, request in
        var header = worker.answerHeader(request)
        header.destination = Endpoint(seat: 4_000, turn: 3)
        worker.pipe.send(header)
        worker.answer(request)
      },
      "stale-attempt": { worker, request in
        var header = worker.answerHeader(request)
        header.attempt &+= 7
        worker.pipe.send(header, Array("stale".utf8))
        worker.answer(request)
      },
      "part-then-die": { worker, request in
        var header = worker.answerHeader(request)
        header.flags.insert(.more)
        worker.pipe.send(header, request.payload)
        request.order.death.die()
      },
      "forge-source": { worker, request in
        var header = worker.answerHeader(request)
        header.source = Endpoint(seat: 1, turn: 1)
        worker.pipe.send(header, request.payload)
      },
      "no-credit": { worker, request in
        let progress = Pipe.bytes(worker.answerHeader(request, .progress), [])
        for _ in 0..<(request.order.parts ?? 100_000) { worker.pipe.write(progress) }
      },
      "late-hello": { worker, _ in
        worker.pipe.send(FrameHeader(type: .hello), JSONPayload.encode(Hello(name: "again", role: "example")))
      },
      "only-hub": { worker, _ in worker.pipe.send(FrameHeader(type: .welcome)) },
    ]
  }

  private static var inItsBytes: Bodies {
    [
      "oversize": { worker, _ in worker.pipe.write([0xFF, 0xFF, 0xFF, 0xFF, 1, 17, 0, 0]) },
      "undersize": { worker, _ in worker.pipe.write([3, 0, 0, 0, 1, 17, 0, 0]) },
      "garbage": { worker, request in
        worker.pipe.write((0..<(request.order.bytes ?? 4_096)).map { _ in UInt8.random(in: 0...255) })
      },
      "bad-version": { worker, _ in worker.pipe.write([44, 0, 0, 0, 9, 17, 0, 0]) },
      "bad-type": { worker, _ in worker.pipe.write([44, 0, 0, 0, 1, 77, 0, 0]) },
      "half-frame": { worker, request in
        worker.pipe.write(
          Array(Pipe.bytes(worker.answerHeader(request), request.payload).prefix(request.order.at ?? 20)))
      },
      // Half an answer, then gone.
      "die-in-answer": { worker, request in
        worker.doEffect(request.order)
        worker.pipe.write(
          Array(Pipe.bytes(worker.answerHeader(request), request.payload).prefix(request.order.at ?? 20)))
        request.order.death.die()
      },
    ]
  }

  private static var inItsProcess: Bodies {
    [
      "die": { $1.order.death.die() },
      "die-after-effect": { worker, request in
        worker.doEffect(request.order)
        request.order.death.die()
      },
      "leave-after-answer": { worker, request in
        worker.doEffect(request.order)
        worker.answer(request)
        request.order.death.die()
      },
      // Reads nothing more, and lives.
      "deaf": { _, _ in while true { pause() } },
      "drop-bus": { _, _ in
        close(Pipe.descriptor)
        while true { pause() }
      },
      "spin": { _, _ in
        var number: UInt64 = 1
        while number != 0 { number = number &* 3 | 1 }
      },
      "allocate": { worker, request in
        let count = request.order.bytes ?? 64 << 20
        let memory = UnsafeMutableRawPointer.allocate(byteCount: count, alignment: 4_096)
        memset(memory, 1, count)
        worker.answer(request)
      },
      "shout": { worker, request in
        for _ in 0..<(request.order.parts ?? 16) { worker.shout(byteCount: request.order.bytes ?? 64 << 10) }
        worker.answer(request)
      },
      // `key` is the socket, `path` the file for the report.
      "sneak": { worker, request in
        Sneaker.make(request.order.key ?? "", request.order.path ?? "")
        worker.answer(request)
      },
      "orphan": { worker, request in
        let pid = Orphan.make()
        worker.answer(request, #"{"pid":\#(pid)}"#)
      },
      "orphan-and-die": { worker, request in
        let pid = Orphan.make()
        worker.doEffect(Order(path: request.order.path, key: "\(pid)"))
        request.order.death.die()
      },
    ]
  }

  // MARK: Longer ones

  private mutating func stream(_ request: Request) {
    var header = answerHeader(request)
    header.flags.insert(.more)
    let part = [UInt8](repeating: UInt8(ascii: "x"), count: request.order.bytes ?? 100)
    for _ in 0..<(request.order.parts ?? 10) {
      awaitCredit(byteCount: part.count)
      pipe.send(header, part)
    }
    answer(request)
  }

  private func doEffect(_ order: Order) {
    guard let path = order.path else { return }
    let line = Array("\(order.key ?? "-")\n".utf8)
    let file = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0o600)
    // One write: a line is there or is not.
    _ = write(file, line, line.count)
    close(file)
  }

  private func append(_ request: Request) {
    doEffect(request.order)
    rest(request.order)
    answer(request)
  }

  /// Between the effect and the answer.
  private func rest(_ order: Order) {
    if let milliseconds = order.milliseconds { usleep(UInt32(clamping: milliseconds) * 1_000) }
  }

  /// Does it if its ledger does not have the key yet; the answer is the same either way: the line where it stands.
  private mutating func once(_ request: Request) {
    guard let path = request.order.path, let key = request.order.key else { return answer(request) }
    var ledger = ledgers[path] ?? Worker.readLedger(path)
    if ledger[key] == nil {
      doEffect(request.order)
      rest(request.order)
      ledger[key] = ledger.count
    }
    ledgers[path] = ledger
    answer(request, #"{"line":\#(ledger[key] ?? -1)}"#)
  }

  private static func readLedger(_ path: String) -> [String: Int] {
    guard let file = fopen(path, "r") else { return [:] }
    defer { fclose(file) }
    var ledger: [String: Int] = [:]
    var line = [CChar](repeating: 0, count: 512)
    while fgets(&line, Int32(line.count), file) != nil {
      let text = String(decoding: line.prefix { $0 != 0 && $0 != 10 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
      if ledger[text] == nil { ledger[text] = ledger.count }
    }
    return ledger
  }

  private func tellWho(_ request: Request) {
    let isAgain = request.header.flags.contains(.redelivered)
    answer(
      request,
      #"{"pid":\#(getpid()),"generation":\#(Flags.generation),"attempt":\#(request.header.attempt),"again":\#(isAgain)}"#
    )
  }

  /// Publishes to a topic that is not its own, and tells what the hub said to it.
  private mutating func publish(_ request: Request) {
    awaitCredit(byteCount: 2)
    let header = FrameHeader(type: .event, flags: .needsAck, id: 1, method: request.order.topic ?? 0)
    pipe.send(header, Array("{}".utf8))
    while let frame = pipe.next(withinMilliseconds: 10_000) {
      guard frame.header.type == .nack || frame.header.type == .ack else {
        take(frame.header, frame.payload)
        continue
      }
      answer(request, frame.header.type == .nack ? String(decoding: frame.payload, as: UTF8.self) : #"{"code":"ack"}"#)
      return
    }
  }

  /// An EVENT for us: `{"code":…}` is not taken, with the number as the delay before it may come again; others are.
  mutating func takeEvent(_ header: FrameHeader, _ payload: [UInt8]) {
    guard let order = try? JSONPayload.decode(Order.self, from: payload) else { return }
    if header.attempt <= order.lives ?? 0 {
      if order.signal != nil { order.death.die() }
      pipe.send(
        FrameHeader(
          type: .nack, destination: header.source, re: header.id,
          ttlMilliseconds: UInt32(clamping: order.milliseconds ?? 0),
          attempt: header.attempt, method: header.method))
      return
    }
    doEffect(order)
    guard header.flags.contains(.needsAck) else { return }
    pipe.send(
      FrameHeader(
        type: .ack, destination: header.source, re: header.id, attempt: header.attempt, method: header.method))
  }
}
