import Glibc
import Testing

@testable import EventLoop
@testable import TestSupport

@Suite struct FloodTests {
  @Test("A peer that writes as fast as it is read gets two reads of a turn, and all its bytes arrive")
  func flood() async throws {
    try await LoopThread.run {
      var descriptors: [Int32] = [0, 0]
      let status = socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0, &descriptors)
      try #require(status == 0)
      let stream = try ByteStream(descriptor: descriptors[0])
      let writer = descriptors[1]
      let chunkByteCount = 1 << 20
      let total = 64 * chunkByteCount
      var received = 0
      var readCounts: [UInt64: Int] = [:]
      stream.onInput = { bytes in
        received += bytes.count
        readCounts[EventLoop.process.turn, default: 0] += 1
        // Long enough for the writer to fill the socket again.
        usleep(100)
        return bytes.count
      }
      stream.startReading()
      let flooder = JoinedThread {
        let chunk = [UInt8](repeating: 65, count: chunkByteCount)
        var left = total
        while left > 0 {
          let count = send(writer, chunk, min(left, chunk.count), Int32(MSG_NOSIGNAL))
          guard count > 0 else { break }
          left -= count
        }
      }
      try await eventually("all bytes") { received == total }
      flooder.join()
      #expect(readCounts.values.max() ?? 0 <= ByteStream.readsPerTurn)
      stream.close()
      close(writer)
    }
  }
}
