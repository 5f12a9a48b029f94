import EventLoop
import Glibc
import TestSupport
import Testing
import WebSocket

@testable import TLS

// One after the other: they share the one loop, and a heavy one would eat the deadlines of the rest.
@Suite(.serialized) struct StreamTests {
  @Test("A stream that comes one byte at a time reads the same")
  func trickle() async throws {
    for version in ["1.2", "1.3"] {
      let peer = try TLSPeer("trickle", "good", "--only", version)
      try await LoopThread.run {
        let plaintext = try await peer.secure()
        plaintext.transport.startReading()
        for word in ["one", " two", " three"] { plaintext.send(word) }
        try await eventually("the echo") { plaintext.text == "one two three" }
        plaintext.transport.close()
      }
    }
  }

  @Test("A megabyte goes there and back whole")
  func large() async throws {
    let peer = try TLSPeer("echo")
    let message = (0..<(1 << 20)).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) }
    try await LoopThread.run {
      let plaintext = try await peer.secure()
      plaintext.transport.startReading()
      plaintext.send(message)
      try await eventually("the echo") { plaintext.bytes.count >= message.count }
      #expect(plaintext.bytes == message)
      plaintext.transport.close()
    }
  }

  @Test("A consumer that uses only part of what it is offered is offered the rest again, in order")
  func partial() async throws {
    let count = 300_000
    let peer = try TLSPeer("send", "good", "--bytes", "\(count)")
    try await LoopThread.run {
      let plaintext = try await peer.secure()
      // Never fewer than 10 at a time: what it leaves grows until more has come.
      plaintext.appetite = { $0 < 10 ? 0 : $0 / 2 }
      plaintext.transport.startReading()
      try await eventually("nearly all") { plaintext.bytes.count > count - 100_000 && !plaintext.ends.isEmpty }
      #expect(plaintext.bytes == pattern(plaintext.bytes.count))
      #expect(plaintext.ends == [nil])
    }
    try peer.awaitLine("closed")
  }

  @Test("A reader that stops holds the server back: the bytes stay with it, and come when reading goes on")
  func backPressure() async throws {
    // Far beyond what two socket buffers can swallow.
    let count = 64 << 20
    let peer = try TLSPeer("send", "good", "--bytes", "\(count)")
    try await LoopThread.run {
      let plaintext = try await peer.secure()
      plaintext.onBytes = { [unowned plaintext] in plaintext.transport.stopReading() }
      plaintext.transport.startReading()
      try await eventually("the first") { !plaintext.bytes.isEmpty }
      let taken = plaintext.bytes.count
      #expect(taken <= 64 << 10, "\(taken) bytes in one round")
      try await remains("no more comes", forMilliseconds: 300) {
        plaintext.bytes.count == taken && plaintext.ends.isEmpty
      }
      // A round at a time, each stopping in the middle of what has been read from the socket.
      for _ in 0..<100 {
        let before = plaintext.bytes.count
        plaintext.transport.startReading()
        try await eventually("one more round") { plaintext.bytes.count > before }
        #expect(plaintext.bytes.count - before <= 64 << 10)
      }
      plaintext.onBytes = nil
      plaintext.transport.startReading()
      try await eventually(within: 60, "all") { plaintext.bytes.count == count }
      #expect(plaintext.bytes[..<(1 << 20)] == pattern(1 << 20)[...])
      try await eventually("the end") { plaintext.ends == [nil] }
    }
    try peer.awaitLine("closed")
  }

  @Test("A server that reads nothing lets output pile up, counted, and never beyond the bound")
  func outputBound() async throws {
    let peer = try TLSPeer("deaf")
    try await LoopThread.run {
      let plaintext = try await peer.secure(outputLimit: 32 << 20)
      plaintext.transport.startReading()
      let megabyte = [UInt8](repeating: 7, count: 1 << 20)
      for _ in 0..<24 { plaintext.send(megabyte) }
      #expect(plaintext.transport.pendingByteCount > 16 << 20 && !plaintext.transport.isClosed)
      for _ in 0..<24 { plaintext.send(megabyte) }
      try await eventually("the end") { plaintext.ends.count == 1 }
      #expect(plaintext.ends[0]?.code == -ENOBUFS && plaintext.transport.isClosed)
    }
  }

  @Test(
    "A close_notify is a proper end, and answered; a stream cut without one, or spoilt, ends with a fault that says so")
  func ends() async throws {
    let proper = try TLSPeer("send", "good", "--bytes", "3")
    let abrupt = try TLSPeer("abrupt")
    let spoilt = try TLSPeer("spoilt")
    try await LoopThread.run {
      let first = try await proper.secure()
      first.transport.startReading()
      try await eventually("the end") { first.ends == [nil] && first.bytes == [0, 1, 2] }
      #expect(first.transport.isClosed)
      let second = try await abrupt.secure()
      second.send("last words")
      second.transport.startReading()
      try await eventually("the cut") { second.ends.count == 1 }
      #expect(second.text == "last words" && second.ends[0]?.code == -ECONNABORTED, "\(second.ends)")
      #expect(second.ends[0]?.description.contains("without a close_notify") == true)
      let third = try await spoilt.secure()
      third.send("last words")
      third.transport.startReading()
      try await eventually("the fault") { third.ends.count == 1 }
      #expect(third.text == "last words" && third.ends[0]?.code == -EPROTO, "\(third.ends)")
    }
    try proper.awaitLine("closed")
  }

  @Test("A stream may be stopped, closed or let go of inside a delivery")
  func endInside() async throws {
    for way in 0..<3 {
      let peer = try TLSPeer("send", "good", "--bytes", "400000")
      try await LoopThread.run {
        var plaintext: Plaintext? = try await peer.secure()
        var count = 0
        plaintext?.onBytes = {
          count += 1
          if way == 0 { plaintext?.transport.close() }
          if way == 1 { plaintext?.transport.flushAndClose() }
          if way == 2 { plaintext?.transport.stopReading() }
        }
        plaintext?.transport.startReading()
        try await eventually("a delivery") { count > 0 }
        try await remains("no second delivery", forMilliseconds: 50) { count == 1 }
        plaintext?.transport.close()
        plaintext = nil
      }
    }
  }
}

/// What the server sends: 0 to 250, over and over.
private func pattern(_ count: Int) -> [UInt8] { (0..<count).map { UInt8($0 % 251) } }
