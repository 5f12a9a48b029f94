internal import CLinux
internal import Glibc

// What TCP connections of this machine hold in the kernel's memory, which counts for no process: sock_diag(7), all rows
// of a family in one request, with the kernel's counts for each.
//
//     request   ┌ nlmsghdr 16 ┬ family protocol extensions 0 ┬ states ┬ id 48, of zeros ┐                      72 bytes
//     answers   ┌ nlmsghdr 16 ┬ family state 0 0 ┬ sport dport src[16] dst[16] if cookie[8] ┬ expires
//                 rqueue wqueue ┬ uid ┬ inode ┬ attributes ┐                                              from 88 bytes
//     attribute ┌ length type 7 ┬ received rcvbuf sent sndbuf reserved queued options backlog drops, 4 bytes each ┐
//
// A connection belongs to the process that has its inode open. A connection that was not accepted yet has no inode, and
// belongs to the listener at its port. One that was closed with bytes on their way has none either, and belongs to its
// other end. A closed connection whose other end is on another machine belongs to no process; the kernel limits how
// many of those may exist (`net.ipv4.tcp_max_orphans`).
//
// Rejected: counting what a connection can hold (`net.ipv4.tcp_rmem`), because that is 32 MiB today: a program with ten
// connections would be ended although they hold only a few KiB.

/// The memory that the TCP connections of a program hold.
public enum SocketMemory {
  /// One connection or listener, seen from one of its ends.
  struct Row: Hashable {
    var port: UInt16
    var otherPort: UInt16
    var isListener = false
    /// 0 if no process has it.
    var inode: UInt64
    var byteCount: Int
  }

  /// The most bytes of answers read for each family: some hundred thousand connections.
  private static let answerByteCountMaximum = 32 << 20

  /// Bytes that wait in TCP connections of this machine; nil if the kernel does not report them.
  ///
  /// - Parameters:
  ///   - inodes: the sockets that the program has open.
  ///   - countedByteCount: the bytes that already count for each of them, and are subtracted.
  public static func byteCount(of inodes: Set<UInt64>, beyond countedByteCount: Int) -> Int? {
    guard !inodes.isEmpty else { return 0 }
    let descriptor = roost_socket_diagnosis()
    guard descriptor >= 0 else { return nil }
    defer { Descriptors.close(descriptor) }
    var rows: [Row] = []
    for family in [AF_INET, AF_INET6] {
      guard let more = Self.rows(of: family, by: descriptor) else { return nil }
      rows += more
    }
    return byteCount(of: inodes, beyond: countedByteCount, in: rows)
  }

  static func byteCount(of inodes: Set<UInt64>, beyond counted: Int, in rows: [Row]) -> Int {
    struct Ports: Hashable { var near: UInt16, far: UInt16 }
    var (sum, listeners, ends): (Int, Set<UInt16>, Set<Ports>) = (0, [], [])
    for row in rows where inodes.contains(row.inode) {
      sum += max(0, row.byteCount - counted)
      if row.isListener { listeners.insert(row.port) } else { ends.insert(Ports(near: row.port, far: row.otherPort)) }
    }
    // Before the closed connections: their other ends may be among these.
    let loose = rows.filter { $0.inode == 0 && !$0.isListener }
    let waiting = loose.filter { listeners.contains($0.port) }
    for row in waiting { ends.insert(Ports(near: row.port, far: row.otherPort)) }
    let closed = loose.filter {
      !listeners.contains($0.port) && ends.contains(Ports(near: $0.otherPort, far: $0.port))
    }
    return (waiting + closed).reduce(sum) { $0 + $1.byteCount }
  }

  // MARK: Asking

  private static let requestByteCount = 72
  private static let rowByteCount = 88
  /// SOCK_DIAG_BY_FAMILY, NLMSG_DONE, NLM_F_REQUEST with NLM_F_DUMP, TCP_LISTEN.
  private static let (byFamily, done, wholeTable, listen): (UInt16, UInt16, UInt16, UInt8) = (20, 3, 0x301, 10)
  /// INET_DIAG_SKMEMINFO.
  private static let memory: UInt16 = 7

  private static func request(_ family: Int32) -> [UInt8] {
    func native<Value: FixedWidthInteger>(_ value: Value) -> [UInt8] { withUnsafeBytes(of: value) { Array($0) } }
    var bytes = native(UInt32(requestByteCount)) + native(byFamily) + native(wholeTable)
    bytes += native(UInt32(1)) + native(UInt32(0))
    bytes += [UInt8(family), UInt8(IPPROTO_TCP), 1 << UInt8(memory - 1), 0] + native(UInt32.max)
    return bytes + [UInt8](repeating: 0, count: requestByteCount - bytes.count)
  }

  private static func rows(of family: Int32, by descriptor: Int32) -> [Row]? {
    let request = request(family)
    guard send(descriptor, request, request.count, 0) == request.count else { return nil }
    var rows: [Row] = []
    var answer = [UInt8](repeating: 0, count: 64 << 10)
    var total = 0
    // The kernel writes the next part during the call, so there is nothing to wait for.
    while total < answerByteCountMaximum {
      let count = recv(descriptor, &answer, answer.count, Int32(MSG_DONTWAIT))
      guard count > 0 else { return nil }
      total += count
      let isWhole = answer.withUnsafeBytes { take(.init(rebasing: $0[..<count]), into: &rows) }
      if let isWhole { return isWhole ? rows : nil }
    }
    return nil
  }

  /// Reads a part of the answer. Returns nil until the answer has ended, then whether it is complete.
  static func take(_ part: UnsafeRawBufferPointer, into rows: inout [Row]) -> Bool? {
    var offset = 0
    while offset + 16 <= part.count {
      let length = Int(part.loadUnaligned(fromByteOffset: offset, as: UInt32.self))
      let kind = part.loadUnaligned(fromByteOffset: offset + 4, as: UInt16.self)
      guard length >= 16, offset + length <= part.count else { return false }
      guard kind == byFamily else { return kind == done }
      if let row = row(.init(rebasing: part[offset..<offset + length])) { rows.append(row) }
      offset += (length + 3) & ~3
    }
    return nil
  }

  private static func row(_ message: UnsafeRawBufferPointer) -> Row? {
    guard message.count >= rowByteCount else { return nil }
    func number<Value: FixedWidthInteger>(_ type: Value.Type, _ offset: Int) -> Value {
      message.loadUnaligned(fromByteOffset: offset, as: type)
    }
    var row = Row(
      port: number(UInt16.self, 20).bigEndian, otherPort: number(UInt16.self, 22).bigEndian,
      isListener: message[17] == listen, inode: UInt64(number(UInt32.self, 84)), byteCount: 0)
    var offset = rowByteCount
    while offset + 4 <= message.count {
      let length = Int(number(UInt16.self, offset))
      guard length >= 4, offset + length <= message.count else { break }
      if number(UInt16.self, offset + 2) == memory, length >= 4 + 8 * 4 {
        func word(_ index: Int) -> Int { Int(number(UInt32.self, offset + 4 + 4 * index)) }
        // Received bytes, sent bytes that the network has not taken yet, reserved ones, and those that came while the
        // owner worked.
        row.byteCount = word(0) + max(word(2), word(5)) + word(4) + word(7)
      }
      offset += (length + 3) & ~3
    }
    return row
  }
}
