import Glibc
import TestSupport
import Testing

@testable import LinuxSystem

@Suite("What the sockets of a program hold")
struct SocketMemoryTests {
  @Test("Counts of a connection what is beyond a bound, of others' nothing, and who has not accepted pays for it")
  func rows() {
    let listener = SocketMemory.Row(port: 80, otherPort: 0, isListener: true, inode: 1, byteCount: 0)
    let own = SocketMemory.Row(port: 4_000, otherPort: 443, inode: 2, byteCount: 1_000)
    let others = SocketMemory.Row(port: 4_001, otherPort: 443, inode: 3, byteCount: 1_000_000)
    let waiting = SocketMemory.Row(port: 80, otherPort: 5_000, inode: 0, byteCount: 200)
    let closed = SocketMemory.Row(port: 5_000, otherPort: 80, inode: 0, byteCount: 30)
    let foreign = SocketMemory.Row(port: 5_001, otherPort: 81, inode: 0, byteCount: 1_000_000)
    let rows = [closed, listener, own, others, waiting, foreign]
    #expect(SocketMemory.byteCount(of: [1, 2], beyond: 0, in: rows) == 1_230)
    #expect(SocketMemory.byteCount(of: [1, 2], beyond: 900, in: rows) == 330)
    #expect(SocketMemory.byteCount(of: [2], beyond: 0, in: rows) == 1_000)
    #expect(SocketMemory.byteCount(of: [9], beyond: 0, in: rows) == 0)
  }

  @Test("Bytes that wait in a connection are told, accepted or not, and gone when they were taken")
  func real() throws {
    let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    let client = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    defer { for descriptor in [listener, client] { Descriptors.close(descriptor) } }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    try withUnsafeMutablePointer(to: &address) { pointer in
      try pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { name in
        try #require(bind(listener, name, length) == 0 && listen(listener, 4) == 0)
        try #require(getsockname(listener, name, &length) == 0 && connect(client, name, length) == 0)
      }
    }
    try #require(send(client, [UInt8](repeating: 1, count: 40_000), 40_000, 0) == 40_000)
    func number(_ descriptor: Int32) -> UInt64 {
      var status = stat()
      return fstat(descriptor, &status) == 0 ? UInt64(status.st_ino) : 0
    }
    func held(_ descriptors: Int32...) throws -> Int {
      try #require(SocketMemory.byteCount(of: Set(descriptors.map(number)), beyond: 0))
    }
    // What goes to the loopback is on the other side at once.
    try awaitSoon("the listener has it") { try held(listener) >= 40_000 }
    #expect(SocketMemory.byteCount(of: [], beyond: 0) == 0)
    let accepted = accept(listener, nil, nil)
    defer { Descriptors.close(accepted) }
    #expect(try held(accepted) >= 40_000)
    #expect(try held(listener) < 40_000)
    var buffer = [UInt8](repeating: 0, count: 40_000)
    var count = 0
    while count < 40_000 {
      let more = recv(accepted, &buffer, buffer.count, 0)
      try #require(more > 0)
      count += more
    }
    #expect(try held(accepted) < 40_000)
  }

  @Test("An answer that is cut off, damaged or refused is none")
  func answers() {
    var rows: [SocketMemory.Row] = []
    func take(_ words: [UInt32]) -> Bool? { words.withUnsafeBytes { SocketMemory.take($0, into: &rows) } }
    #expect(take([20, 3, 1, 0, 0]) == true)
    #expect(take([20, 2, 1, 0, 0]) == false)
    #expect(take([400, 20, 1, 0, 0]) == false)
    #expect(take([0, 20, 1, 0]) == false)
    #expect(take([16, 20, 1, 0]) == nil)
    #expect(rows.isEmpty)
  }

  @Test("Descriptors in messages between sockets are counted, and belong to the socket that they wait in")
  func messages() throws {
    let facts = "pos:\t0\nflags:\t02000002\nscm_fds: 2\n"
    #expect(NamelessFiles.descriptorsInMessages(in: Array(facts.utf8)) == 2)
    #expect(NamelessFiles.descriptorsInMessages(in: Array("pos:\t0\n".utf8)) == 0)
  }
}

@Suite("Whether this kernel has Landlock")
struct LandlockSupportTests {
  @Test("None, an old one and a new one are told apart, with what to do")
  func complaints() {
    let missing = LandlockSupport.missing("EOPNOTSUPP")
    #expect(!missing.holdsStrangers && missing.complaint?.contains("(EOPNOTSUPP)") == true)
    #expect(missing.complaint?.contains("lsm=landlock") == true)
    let old = LandlockSupport.version(5)
    #expect(old.holdsStrangers && old.complaint?.contains("Linux 6.12") == true)
    #expect(LandlockSupport.version(6).holdsStrangers && LandlockSupport.version(6).complaint == nil)
  }
}
