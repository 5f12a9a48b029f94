import Glibc
import Testing

@testable import LinuxSystem

@Suite("Whose the other end of a connection is")
struct SocketOwnersTests {
  private static let pair = SocketPair(near: [127, 0, 0, 1], nearPort: 40_001, far: [127, 0, 0, 1], farPort: 4_869)!

  /// The kernel's answer about that pair, of a connection that uid 1000 has open.
  private static let answer: [UInt8] = {
    func native<Value: FixedWidthInteger>(_ value: Value) -> [UInt8] { withUnsafeBytes(of: value) { Array($0) } }
    let loopback: [UInt8] = [127, 0, 0, 1] + Array(repeating: 0, count: 12)
    var bytes = native(UInt32(88)) + native(UInt16(20)) + native(UInt16(0)) + native(UInt32(7)) + native(UInt32(0))
    bytes += [2, 1, 0, 0] + native(UInt16(40_001).bigEndian) + native(UInt16(4_869).bigEndian) + loopback + loopback
    bytes += native(UInt32(0)) + native(UInt64(5)) + native(UInt32(0)) + native(UInt32(0)) + native(UInt32(0))
    return bytes + native(UInt32(1_000)) + native(UInt32(99_887))
  }()

  private func owner(_ bytes: [UInt8], _ sequence: UInt32 = 7) -> SocketOwner? {
    bytes.withUnsafeBytes { Self.pair.owner(in: $0, sequence: sequence) }
  }

  private func changed(_ offset: Int, _ bytes: [UInt8]) -> [UInt8] {
    var answer = Self.answer
    answer.replaceSubrange(offset..<offset + bytes.count, with: bytes)
    return answer
  }

  @Test("An answer tells the user of an open connection, and nothing of what is closed, listens, or is another one")
  func reading() throws {
    #expect(owner(Self.answer) == .user(1_000))
    #expect(owner(Self.answer, 8) == nil, "of another question")
    #expect(owner(changed(84, [0, 0, 0, 0])) == .unknown, "closed by its process")
    for state: UInt8 in [0, 2, 3, 6, 7, 9, 10, 11, 12, 255] { #expect(owner(changed(17, [state])) == .unknown) }
    for state: UInt8 in [1, 4, 5, 8] { #expect(owner(changed(17, [state])) == .user(1_000)) }
    for offset in [20, 22, 24, 27, 40, 43] { #expect(owner(changed(offset, [77])) == .unknown, "\(offset)") }
    #expect(owner(changed(16, [16])) == .unknown, "of no family that is asked for")
    #expect(owner(changed(4, [2, 0])) == .unknown, "an error")
    #expect(owner(changed(0, [40, 0, 0, 0])) == .unknown, "shorter than it must be")
    let mapped: [UInt8] = Array(repeating: 0, count: 10) + [0xFF, 0xFF, 127, 0, 0, 1]
    var six = changed(24, mapped + mapped)
    six[16] = 10
    #expect(owner(six) == .user(1_000), "IPv4 by a socket of IPv6")
  }

  @Test("Any bytes are read without harm, and no cut or flipped ones as somebody else's")
  func hostile() throws {
    for count in 0..<Self.answer.count {
      let read = owner(Array(Self.answer[..<count]))
      #expect(count < 16 ? read == nil : read != .user(1_000) && read != nil)
    }
    var random = SystemRandomNumberGenerator()
    for _ in 0..<20_000 {
      let bytes = (0..<Int.random(in: 0...120, using: &random)).map { _ in UInt8.random(in: 0...255, using: &random) }
      #expect(owner(bytes) == nil || owner(bytes) == .unknown)
    }
    // Of the bytes that say which connection it is and in which state, each counts.
    for offset in Array(0..<6) + Array(8..<12) + [16, 17] + Array(20..<28) + Array(40..<44) {
      for bit in 0..<8 {
        let read = owner(changed(offset, [Self.answer[offset] ^ 1 << UInt8(bit)]))
        // A longer length is one; of the states, four are of connections.
        if offset >= 4, offset != 17 { #expect(read != .user(1_000), "\(offset).\(bit)") }
      }
    }
  }

  @Test("Addresses of two kinds are no pair, and IPv4 in IPv6's form is IPv4")
  func pairs() throws {
    let mapped: [UInt8] = Array(repeating: 0, count: 10) + [0xFF, 0xFF, 127, 0, 0, 1]
    #expect(SocketPair(near: mapped, nearPort: 40_001, far: [127, 0, 0, 1], farPort: 4_869) == Self.pair)
    let six = [UInt8](repeating: 0, count: 15) + [1]
    #expect(SocketPair(near: six, nearPort: 1, far: [127, 0, 0, 1], farPort: 2) == nil)
    #expect(SocketPair(near: [], nearPort: 1, far: [], farPort: 2) == nil)
    #expect(Self.pair.request(sequence: 9).count == 72)
  }

  // MARK: The kernel

  /// A listener and a connection to it, over this family; the addresses are the kernel's own.
  private struct Connection {
    let listener: Int32
    let near: Int32
    let accepted: Int32
    let pair: SocketPair

    init(_ family: Int32, mapped: Bool = false) throws {
      let kind = Int32(SOCK_STREAM.rawValue)
      let four: [UInt8] = [127, 0, 0, 1]
      let six = [UInt8](repeating: 0, count: 15) + [1]
      var dialled = family == AF_INET ? four : six
      if mapped { dialled = [UInt8](repeating: 0, count: 10) + [0xFF, 0xFF] + four }
      let listener = socket(mapped ? AF_INET : family, kind, 0)
      let isBound = Connection.call(listener, mapped ? four : dialled, 0, Glibc.bind) == 0 && listen(listener, 8) == 0
      let port = Connection.port(listener, getsockname)
      let near = socket(family, kind, 0)
      let isConnected = isBound && Connection.call(near, dialled, port, Glibc.connect) == 0
      try #require(isConnected)
      let accepted = accept(listener, nil, nil)
      let nearPort = Connection.port(accepted, getpeername)
      let pair = SocketPair(near: dialled, nearPort: nearPort, far: dialled, farPort: port)
      self.pair = try #require(pair)
      (self.listener, self.near, self.accepted) = (listener, near, accepted)
    }

    private static func call(
      _ descriptor: Int32, _ address: [UInt8], _ port: UInt16,
      _ body: (Int32, UnsafePointer<sockaddr>?, socklen_t) -> Int32
    ) -> Int32 {
      var bytes = withUnsafeBytes(of: sa_family_t(address.count == 4 ? AF_INET : AF_INET6)) { Array($0) }
      bytes += withUnsafeBytes(of: port.bigEndian) { Array($0) }
      bytes += address.count == 4 ? address + Array(repeating: 0, count: 8) : [0, 0, 0, 0] + address + [0, 0, 0, 0]
      return bytes.withUnsafeBytes { raw in
        body(descriptor, raw.baseAddress?.assumingMemoryBound(to: sockaddr.self), socklen_t(raw.count))
      }
    }

    private static func port(
      _ descriptor: Int32,
      _ body: (Int32, UnsafeMutablePointer<sockaddr>?, UnsafeMutablePointer<socklen_t>?) -> Int32
    ) -> UInt16 {
      var storage = [UInt8](repeating: 0, count: 128)
      var length = socklen_t(storage.count)
      _ = storage.withUnsafeMutableBytes {
        body(descriptor, $0.baseAddress?.assumingMemoryBound(to: sockaddr.self), &length)
      }
      return UInt16(storage[2]) << 8 | UInt16(storage[3])
    }

    func end() { for descriptor in [listener, near, accepted] { Glibc.close(descriptor) } }
  }

  @Test("The kernel tells our own connections, by IPv4, by IPv6, and by IPv4 in IPv6's form; a closed one is nobody's")
  func live() throws {
    var owners = try SocketOwners()
    for (family, mapped) in [(AF_INET, false), (AF_INET6, false), (AF_INET6, true)] {
      // A machine may have no IPv6.
      guard let connection = try? Connection(family, mapped: mapped) else {
        #expect(family == AF_INET6)
        continue
      }
      defer { connection.end() }
      let open = owners.owner(of: connection.pair)
      #expect(open == .user(getuid()), "\(family) \(mapped)")
      shutdown(connection.near, Int32(SHUT_WR))
      let half = owners.owner(of: connection.pair)
      #expect(half == .user(getuid()), "its process still has it")
      // Closed, and its number kept from others until the end of the test.
      let nothing = Glibc.open("/dev/null", O_RDONLY)
      dup2(nothing, connection.near)
      Glibc.close(nothing)
      let closed = owners.owner(of: connection.pair)
      #expect(closed == .unknown, "its process has closed it")
    }
    // Where nothing is connected the kernel finds the listener.
    let connection = try Connection(AF_INET)
    defer { connection.end() }
    let listening = try #require(
      SocketPair(near: [127, 0, 0, 1], nearPort: connection.pair.farPort, far: [127, 0, 0, 1], farPort: 1))
    let listener = owners.owner(of: listening)
    #expect(listener == .unknown)
  }

  @Test("A kernel that answers, and tells nothing of a connection of our own, is found out at the start")
  func tellsOwn() throws {
    var owners = try SocketOwners()
    let tells = owners.tellsOwn()
    #expect(tells == true)
    // What a kernel without tcp_diag answers: an error.
    var ends: [Int32] = [-1, -1]
    try #require(socketpair(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0, &ends) == 0)
    defer { for end in ends { Glibc.close(end) } }
    var answer = [UInt8](repeating: 0, count: 36)
    answer[0] = 36
    answer[4] = 2  // NLMSG_ERROR
    answer[8] = 1  // the first question's number
    try #require(send(ends[1], answer, answer.count, 0) == answer.count)
    var without = SocketOwners(asking: ends[0])
    let told = without.tellsOwn()
    #expect(told == false)
  }

  @Test("Five thousand look-ups wait for nobody")
  func speed() throws {
    var owners = try SocketOwners()
    let connection = try Connection(AF_INET)
    defer { connection.end() }
    let start = SystemClock.monotonicNanoseconds()
    var foundCount = 0
    for _ in 0..<5_000 where owners.owner(of: connection.pair) == .user(getuid()) { foundCount += 1 }
    let took = SystemClock.monotonicNanoseconds() - start
    print("5,000 look-ups of a socket's owner: \(took / 5_000) ns each")
    #expect(foundCount == 5_000 && took < 10_000_000_000)
  }
}
