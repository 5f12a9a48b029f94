import Clocks
import Glibc
import TestSupport
import Testing

@testable import EventLoop

@Suite struct ByteStreamTests {
  @Test("Bytes written in any pieces arrive whole and in order")
  func echo() async throws {
    try await LoopThread.run {
      let (left, right) = try pair()
      var received: [UInt8] = []
      right.onInput = { bytes in
        received.append(contentsOf: bytes)
        return bytes.count
      }
      right.startReading()
      var sent: [UInt8] = []
      for size in [1, 2, 700, 65_536, 300_000, 3] {
        let piece = (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ size) }
        sent += piece
        piece.withUnsafeBytes { left.write($0) }
      }
      try await eventually("all bytes arrive") { received.count >= sent.count }
      #expect(received == sent)
      #expect(left.pendingByteCount == 0)
    }
  }

  @Test("Input that is not used is offered again, in front of what follows")
  func rest() async throws {
    try await LoopThread.run {
      let (left, right) = try pair()
      let blockByteCount = 200_000
      var blocks: [Int] = []
      right.onInput = { bytes in
        var used = 0
        while bytes.count - used >= blockByteCount {
          blocks.append(bytes[used..<(used + blockByteCount)].reduce(0) { $0 + Int($1) })
          used += blockByteCount
        }
        return used
      }
      right.startReading()
      for index in 1...5 {
        [UInt8](repeating: UInt8(index), count: blockByteCount).withUnsafeBytes { left.write($0) }
      }
      try await eventually("five blocks") { blocks.count == 5 }
      #expect(blocks == (1...5).map { $0 * blockByteCount })
    }
  }

  @Test("A stream may be closed by whoever is offered its long rest")
  func closeInRest() async throws {
    try await LoopThread.run {
      for isOffered in [false, true] {
        let (left, right) = try pair()
        var offered = 0
        right.onInput = { bytes in
          offered = bytes.count
          if bytes.count >= 200_000 && !isOffered { right.close() }
          return 0
        }
        right.startReading()
        for _ in 0..<2 {
          let before = offered
          [UInt8](repeating: 7, count: 100_000).withUnsafeBytes { left.write($0) }
          try await eventually("all of it is offered") { offered >= before + 100_000 }
        }
        if isOffered {
          right.onInput = { _ in
            right.close()
            return 0
          }
          right.offerRest()
        }
        #expect(right.isClosed)
        left.close()
      }
    }
  }

  @Test("What the other side said before it went is read, also when writing to it fails first")
  func lastWords() async throws {
    try await LoopThread.run {
      var ends: [Int32] = [-1, -1]
      #expect(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0)
      let stream = try ByteStream(descriptor: ends[0])
      var received = 0
      var endings: [LoopFault?] = []
      stream.onInput = { bytes in
        received += bytes.count
        return bytes.count
      }
      stream.onEnd = { endings.append($0) }
      stream.startReading()
      let words = [UInt8](repeating: 7, count: 100_000)
      #expect(write(ends[1], words, words.count) == words.count)
      close(ends[1])
      // Goes out at the end of this turn, before anything is read.
      words.withUnsafeBytes { stream.write($0) }
      try await eventually("the end") { !endings.isEmpty }
      #expect(received == words.count)
      #expect(endings.count == 1)
    }
  }

  @Test("What waits shrinks with every piece that the other side reads, not only when all is gone")
  func pending() async throws {
    try await LoopThread.run {
      var ends: [Int32] = [-1, -1]
      #expect(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0)
      defer { close(ends[1]) }
      let stream = try ByteStream(descriptor: ends[0])
      let byteCount = 8 << 20
      [UInt8](repeating: 7, count: byteCount).withUnsafeBytes { stream.write($0) }
      let atFirst = stream.pendingByteCount
      #expect(atFirst > 0 && Int(stream.writtenByteCount) + atFirst == byteCount)
      var buffer = [UInt8](repeating: 0, count: 1 << 20)
      #expect(read(ends[1], &buffer, buffer.count) > 0)
      try await eventually("the next piece") { stream.pendingByteCount < atFirst }
      #expect(stream.pendingByteCount > 0)
      #expect(Int(stream.writtenByteCount) + stream.pendingByteCount == byteCount)
    }
  }

  @Test("A peer that sends more unusable input than the limit is cut")
  func inputLimit() async throws {
    try await LoopThread.run {
      let (left, right) = try pair()
      var fault: LoopFault?
      right.inputLimit = 100_000
      right.onInput = { _ in 0 }
      right.onEnd = { fault = $0 }
      right.startReading()
      [UInt8](repeating: 7, count: 400_000).withUnsafeBytes { left.write($0) }
      try await eventually("the stream ends") { right.isClosed }
      #expect(fault?.name == "ENOBUFS")
    }
  }

  @Test("Output to a peer that does not read is bounded, and the bound cuts it")
  func outputLimit() async throws {
    try await LoopThread.run {
      let (left, right) = try pair()
      var fault: LoopFault?
      left.outputLimit = 1 << 20
      left.onEnd = { fault = $0 }
      let piece = [UInt8](repeating: 1, count: 64 << 10)
      for _ in 0..<64 { piece.withUnsafeBytes { left.write($0) } }
      try await eventually("the stream ends") { left.isClosed }
      #expect(fault?.name == "ENOBUFS")
      right.close()
    }
  }

  @Test("Writing to a closed peer is a fault of the stream, not a signal")
  func brokenPipe() async throws {
    try await LoopThread.run {
      let (left, right) = try pair()
      right.close()
      var didEnd = false
      left.onEnd = { _ in didEnd = true }
      left.startReading()
      [UInt8](repeating: 1, count: 10).withUnsafeBytes { left.write($0) }
      try await eventually("the end is noticed") { didEnd }
    }
  }

  @Test("A stream may be closed inside its own input callback")
  func closeInside() async throws {
    try await LoopThread.run {
      let (left, right) = try pair()
      right.onInput = { bytes in
        right.close()
        return 1
      }
      right.startReading()
      [UInt8](repeating: 1, count: 100_000).withUnsafeBytes { left.write($0) }
      try await eventually("closed") { right.isClosed }
      left.close()
    }
  }

  @Test("A TCP listener on port 0 is reached through its port, and a refused connection says where")
  func tcp() async throws {
    try await LoopThread.run {
      let local = try #require(SocketAddress(literal: "127.0.0.1", port: 0))
      var accepted: ByteStream?
      let listener = try StreamListener(address: local) { accepted = $0 }
      let port = try #require(listener.port)
      let address = try #require(SocketAddress(literal: "127.0.0.1", port: port))
      let deadline = EventLoop.process.now.advanced(milliseconds: 5_000)
      let client = try await ByteStream.connect(to: address, deadline: deadline)
      try await eventually("accepted") { accepted != nil }
      client.close()
      accepted?.close()
      listener.close()
      do {
        _ = try await ByteStream.connect(to: address, deadline: deadline)
        Issue.record("a closed port was reached")
      } catch let fault as LoopFault {
        #expect(fault.name == "ECONNREFUSED")
        #expect(fault.description.contains("127.0.0.1:\(port)"))
      }
    }
  }

  @Test("An address that this machine does not have is told from one that is taken")
  func noSuchAddress() async throws {
    try await LoopThread.run {
      // Of RFC 5737 and RFC 3849, for documents: nobody has them.
      for literal in ["192.0.2.1", "2001:db8::1"] {
        let address = try #require(SocketAddress(literal: literal, port: 0))
        let fault = #expect(throws: LoopFault.self) { try StreamListener(address: address) { _ in } }
        #expect(fault?.hasNoSuchAddress == true, "\(literal): \(fault?.name ?? "")")
      }
      let free = try #require(SocketAddress(literal: "127.0.0.1", port: 0))
      let listener = try StreamListener(address: free) { _ in }
      let taken = try #require(SocketAddress(literal: "127.0.0.1", port: listener.port ?? 0))
      let fault = #expect(throws: LoopFault.self) { try StreamListener(address: taken) { _ in } }
      #expect(fault?.hasNoSuchAddress == false && fault?.name == "EADDRINUSE")
      listener.close()
    }
  }

  @Test("A unix socket that was bound and cannot listen leaves no file")
  func boundAndDeaf() async throws {
    let directory = try TemporaryDirectory()
    try await LoopThread.run { [path = directory.path + "/socket"] in
      do {
        _ = try StreamListener(
          path: path,
          begin: { _, _ in
            #expect(access(path, F_OK) == 0)
            errno = EADDRINUSE
            return -1
          }, onConnection: { _ in })
        Issue.record("it listens")
      } catch let fault as LoopFault {
        #expect(fault.name == "EADDRINUSE")
      }
      #expect(access(path, F_OK) != 0)
    }
  }

  @Test("A socket path over 107 bytes is refused with its length, not cut")
  func longPath() async throws {
    try await LoopThread.run {
      let path = "/tmp/" + String(repeating: "x", count: 103)
      do {
        _ = try StreamListener(path: path) { _ in }
        Issue.record("bound a path of \(path.utf8.count) bytes")
      } catch let fault as LoopFault {
        #expect(fault.description.contains("108 bytes"))
      }
    }
  }
}

@EventLoopActor
private func pair() throws -> (ByteStream, ByteStream) {
  var descriptors: [Int32] = [0, 0]
  guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0, &descriptors) == 0 else {
    throw LoopFault(code: -errno, doing: "socketpair")
  }
  return (try ByteStream(descriptor: descriptors[0]), try ByteStream(descriptor: descriptors[1]))
}
