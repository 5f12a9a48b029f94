import Frames

/// An answer of many parts that goes on beside others, each as far as its caller takes it: what the bus library does.
struct Flow {
  let request: Worker.Request
  /// Parts that are not sent yet.
  var leftCount: Int
  /// What may be sent of this answer, and what has been.
  var granted: Credit
  var sent = Credit(frames: 0, bytes: 0)

  var hasRoom: Bool { sent.frames < granted.frames && sent.bytes < granted.bytes }
  /// How many parts it sends before the next one's turn.
  static let turnLength = 16
}

extension Worker {
  /// `example.flow`: so many parts of so many bytes.
  mutating func beginFlow(_ request: Request) {
    flows.append(Flow(request: request, leftCount: request.order.parts ?? 10, granted: answerWindow))
    // It may take as long as the caller likes.
    pipe.send(answerHeader(request, .ack))
  }

  /// More of an answer may be sent.
  mutating func grantFlow(_ header: FrameHeader, _ credit: Credit) {
    for index in flows.indices where flows[index].isOf(header.source, header.re) { flows[index].granted = credit }
  }

  /// The caller has given it up.
  mutating func dropFlow(_ header: FrameHeader) { flows.removeAll { $0.isOf(header.source, header.re) } }

  /// Whether any of them could send a part now.
  var flowsCanMove: Bool { hasCredit && flows.contains { $0.hasRoom || $0.leftCount == 0 } }

  /// Sends a few parts of each.
  mutating func moveFlows() {
    for index in flows.indices {
      let part = [UInt8](repeating: UInt8(ascii: "x"), count: flows[index].request.order.bytes ?? 100)
      var header = answerHeader(flows[index].request)
      header.flags.insert(.more)
      for _ in 0..<Flow.turnLength where hasCredit && flows[index].hasRoom && flows[index].leftCount > 0 {
        pipe.send(header, part)
        sent.frames += 1
        sent.bytes += UInt64(part.count)
        flows[index].sent.frames += 1
        flows[index].sent.bytes += UInt64(part.count)
        flows[index].leftCount -= 1
      }
      if flows[index].leftCount == 0 { answer(flows[index].request) }
    }
    flows.removeAll { $0.leftCount == 0 }
  }
}

extension Flow {
  func isOf(_ caller: Endpoint, _ id: UInt64) -> Bool {
    request.header.source == caller && request.header.id == id
  }
}
