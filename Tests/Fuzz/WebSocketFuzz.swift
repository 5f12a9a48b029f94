// Fuzz entry for the first bytes of a relay's connection: the answer to the upgrade, and then the frames, by wslay; and
// for the frames of a client, behind its request.
// `Scripts/fuzz.sh` builds and runs it.
//
// libraries: uv wslay z
// corpus: websocket
//
// The input is a stream. It is read twice, whole and in pieces whose sizes follow from the input. Both must come to the
// same end, and to the same messages: a message is within its bound, and nothing comes after the end. In the second
// reading the consumer says "hold" now and then. A stream that begins with "HTTP" is an answer to the upgrade first;
// one that begins with "deflate" has compression agreed on, as its next byte says, and frames behind; one that begins
// with "server" is read by a server, with compression if its next byte is odd; every other one is frames from its first
// byte.
import Glibc

@testable import WebSocket

/// Small, so that messages at the bound and beyond it are tried.
private let messageMaximum = 300

/// libFuzzer calls this for each input; a failed precondition is a finding.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzWebSocket(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let stream = UnsafeRawBufferPointer(start: start, count: count)
  var frames = stream
  var compression: DeflateAgreement?
  var role = WebSocketRole.client
  if stream.starts(with: Array("HTTP".utf8)) {
    let whole = upgrade(stream, piece: { _ in count })
    var pieces = Pieces(stream)
    precondition(upgrade(stream, piece: { pieces.next($0) }) == whole, "an answer reads the same at every split")
    guard whole.isUpgraded else { return 0 }
    frames = UnsafeRawBufferPointer(rebasing: stream[whole.usedByteCount...])
    compression = whole.compression
  } else if stream.starts(with: Array("deflate".utf8)), stream.count > 7 {
    frames = UnsafeRawBufferPointer(rebasing: stream[8...])
    compression = DeflateAgreement(keepsWindow: stream[7] & 1 == 0, windowBits: 8 + Int(stream[7] >> 1 & 7))
  } else if stream.starts(with: Array("server".utf8)), stream.count > 6 {
    frames = UnsafeRawBufferPointer(rebasing: stream[7...])
    compression = stream[6] & 1 == 0 ? nil : DeflateAgreement(keepsWindow: false)
    role = .server
  }
  let whole = read(frames, Pieces(frames), role, compression, isWhole: true)
  precondition(
    read(frames, Pieces(frames), role, compression, isWhole: false) == whole, "frames read the same at every split")
  return 0
}

/// Sizes of pieces, from a generator seeded by the stream, so that a finding can be repeated.
private struct Pieces {
  private var state: UInt64

  init(_ stream: UnsafeRawBufferPointer) {
    state = stream.reduce(UInt64(stream.count)) { ($0 ^ UInt64($1)) &* 0x0000_0100_0000_01B3 }
  }

  mutating func next(_ rest: Int) -> Int {
    state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
    return min(rest, 1 + Int(truncatingIfNeeded: state >> 33) % (state >> 62 == 0 ? 200 : 11))
  }

  mutating func chance(of one: Int) -> Bool { next(.max) % one == 0 }
}

// MARK: The upgrade

private struct Upgrade: Equatable {
  var usedByteCount = 0
  var isUpgraded = false
  var compression: DeflateAgreement?
  var refusal: UpgradeRefusal?
}

/// The answer to the nonce of zeros is in the corpus.
private func newHandshake() -> UpgradeHandshake {
  do throws(WebSocketFault) {
    let endpoint = WebSocketEndpoint(host: "relay.example", port: 80, isSecure: false)
    return try UpgradeHandshake(endpoint, fields: [], nonce: [UInt8](repeating: 0, count: 16))
  } catch {
    preconditionFailure("such a request can be made: \(error)")
  }
}

private func upgrade(_ stream: UnsafeRawBufferPointer, piece: (Int) -> Int) -> Upgrade {
  var handshake = newHandshake()
  var outcome = Upgrade()
  do throws(UpgradeRefusal) {
    while outcome.usedByteCount < stream.count, !outcome.isUpgraded {
      let rest = stream[outcome.usedByteCount...]
      let bytes = UnsafeRawBufferPointer(rebasing: rest.prefix(piece(rest.count)))
      let step = try handshake.receive(bytes)
      precondition(step.isUpgraded || step.usedByteCount == bytes.count, "an open head takes every byte")
      precondition(step.usedByteCount <= bytes.count, "a head takes no more than there is")
      outcome.usedByteCount += step.usedByteCount
      outcome.isUpgraded = step.isUpgraded
    }
    outcome.compression = handshake.compression
    precondition(outcome.isUpgraded || outcome.compression == nil, "nothing is agreed on before the answer")
    precondition(outcome.usedByteCount <= UpgradeHandshake.headByteCountMaximum, "a head is bounded")
  } catch {
    precondition(error.description.unicodeScalars.allSatisfy { $0.value >= 0x20 }, "a refusal is one line")
    // What is quoted of another protocol is what had come by then.
    if case .notHTTP = error { outcome.refusal = .notHTTP("") } else { outcome.refusal = error }
    outcome.usedByteCount = 0
  }
  return outcome
}

// MARK: Frames

/// What reading a stream came to.
private struct Reading: Equatable {
  var messages: [[UInt8]] = []
  var ending: FrameCodec.Ending?
}

private final class Consumer {
  var reading = Reading()
  var isDone = false
}

private func read(
  _ stream: UnsafeRawBufferPointer, _ pieces: Pieces, _ role: WebSocketRole, _ compression: DeflateAgreement?,
  isWhole: Bool
) -> Reading {
  var pieces = pieces
  let codec = FrameCodec(role: role, messageByteCountMaximum: messageMaximum, compression: compression)
  let consumer = Consumer()
  codec.onMessage = { [unowned codec] kind, bytes in
    precondition(bytes.count <= messageMaximum, "a message is within its bound")
    precondition(!consumer.isDone, "nothing comes after the end")
    precondition(!codec.isHolding, "nothing comes during a hold")
    consumer.reading.messages.append([kind == .text ? 0 : 1] + bytes)
    if !isWhole && consumer.reading.messages.count % 3 == 0 { codec.hold() }
  }
  var used = 0
  var left = 0
  while used < stream.count {
    let rest = stream[used...]
    let more = isWhole ? rest.count : left + pieces.next(rest.count)
    let piece = UnsafeRawBufferPointer(rebasing: rest.prefix(more))
    let before = consumer.reading.messages.count
    let count = codec.receive(piece)
    precondition(0...piece.count ~= count, "a codec takes no more than there is")
    used += count
    while codec.isHolding { codec.release() }
    precondition(!codec.hasHeldMessages, "what was held is delivered")
    consumer.reading.ending = codec.ending
    checkOutput(codec.takeOutput(), isMasked: role == .client)
    left = piece.count - count
    if consumer.reading.messages.count == before {
      precondition(left == 0 || piece[count] == 0x88 && left < 131, "only the beginning of a close is not taken")
      if count == 0 && piece.count == rest.count { break }
    } else {
      left = 0
    }
  }
  consumer.isDone = codec.ending != nil
  return consumer.reading
}

/// What is sent is frames, each whole and a client's masked: pongs, and at most one close, the last.
private func checkOutput(_ output: [UInt8], isMasked: Bool) {
  let headerByteCount = isMasked ? 6 : 2
  var position = 0
  while position < output.count {
    precondition(output.count - position >= headerByteCount, "a frame has its header")
    let opcode = output[position] & 0x0F
    precondition(output[position] & 0x80 != 0 && (opcode == 8 || opcode == 10), "a codec answers PONG and CLOSE")
    let length = output[position + 1]
    precondition((length & 0x80 != 0) == isMasked && length & 0x7F <= 125, "a control frame is masked and short")
    position += headerByteCount + Int(length & 0x7F)
    precondition(opcode != 8 || position == output.count, "nothing is sent behind a close")
  }
  precondition(position == output.count, "frames are whole")
}
