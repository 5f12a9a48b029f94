import Frames
import Glibc

/// The bus at byte level: whole frames in, any bytes out.
struct Pipe {
  static let descriptor: Int32 = 3

  private var input: [UInt8] = []
  private let reader = FrameReader()
  /// Frames and payload bytes that were taken, for the CREDIT we owe.
  private var taken = Credit(frames: 0, bytes: 0)

  /// The next frame, if it comes within so many milliseconds (negative: however long it takes). The end of the bus is
  /// the end of us.
  mutating func next(withinMilliseconds patience: Int32) -> (header: FrameHeader, payload: [UInt8])? {
    while true {
      if let frame = cut() { return frame }
      var entry = pollfd(fd: Pipe.descriptor, events: Int16(POLLIN), revents: 0)
      let ready = poll(&entry, 1, patience)
      if ready < 0 && errno == EINTR { continue }
      guard ready > 0 else { return nil }
      receive()
    }
  }

  private mutating func receive() {
    var chunk = [UInt8](repeating: 0, count: 64 << 10)
    let count = read(Pipe.descriptor, &chunk, chunk.count)
    if count > 0 { input += chunk[..<count] } else if count == 0 || errno != EINTR { exit(0) }
  }

  private mutating func cut() -> (header: FrameHeader, payload: [UInt8])? {
    let found = input.withUnsafeBytes { bytes -> (FrameHeader, [UInt8])? in
      guard case .frame(let header, let payload)? = try? reader.next(in: bytes) else { return nil }
      return (header, Array(payload))
    }
    guard let (header, payload) = found else { return nil }
    input.removeFirst(header.frameByteCount)
    if header.type.spendsCredit(flags: header.flags) { grant(payload.count) }
    return (header, payload)
  }

  /// What was taken may be sent anew.
  private mutating func grant(_ byteCount: Int) {
    taken.frames += 1
    taken.bytes += UInt64(byteCount)
    let window = Window.standard
    send(
      FrameHeader(type: .credit),
      Credit(frames: taken.frames + window.frames, bytes: taken.bytes + window.bytes).payload)
  }

  /// Reads exactly so many more bytes of whatever comes, and keeps none.
  mutating func swallow(_ count: Int) {
    var left = count - input.count
    var byte: UInt8 = 0
    while left > 0 {
      let got = read(Pipe.descriptor, &byte, 1)
      if got == 1 { left -= 1 } else if got == 0 || errno != EINTR { exit(0) }
    }
  }

  func send(_ header: FrameHeader, _ payload: [UInt8] = []) { write(Pipe.bytes(header, payload)) }

  /// A frame as it goes over the bus.
  static func bytes(_ header: FrameHeader, _ payload: [UInt8]) -> [UInt8] {
    var header = header
    header.payloadByteCount = payload.count
    var bytes = [UInt8](repeating: 0, count: FrameHeader.byteCount)
    bytes.withUnsafeMutableBytes { if let base = $0.baseAddress { header.write(to: base) } }
    return bytes + payload
  }

  /// Writes any bytes; waits until they are all taken.
  func write(_ bytes: [UInt8]) {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { Glibc.write(Pipe.descriptor, $0.baseAddress, $0.count) }
      if count >= 0 { rest = rest.dropFirst(count) } else if errno != EINTR { return }
    }
  }
}
