import Frames
import Glibc

/// A grandchild that sheds all that could betray it (its parent, its session, its environment) and then asks to come in
/// over the socket, as a client like any other.
enum Sneaker {
  static let middleFlag = "--as-sneaker-middle"
  static let flag = "--as-sneaker"

  /// Starts it; the type of the first frame it is sent becomes a line of the file at `report`.
  static func make(_ socket: String, _ report: String) {
    let middle = Orphan.spawn(middleFlag, nil, [socket, report], withoutEnvironment: true)
    var status: Int32 = 0
    waitpid(middle, &status, 0)
  }

  static func enter(_ path: String, _ report: String, isMiddle: Bool) -> Never {
    if isMiddle {
      _ = Orphan.spawn(flag, nil, [path, report], withoutEnvironment: true)
      _exit(0)
    }
    // The middle is gone when somebody else is our parent.
    let first = getppid()
    for _ in 0..<200 where getppid() == first && !parentIsWorker() { usleep(10_000) }
    let text = "\(answer(path))\n"
    let file = open(report, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0o600)
    _ = write(file, text, text.utf8.count)
    _exit(0)
  }

  /// Whether the parent is not this program any more: roostd has adopted us.
  private static func parentIsWorker() -> Bool {
    var path = [CChar](repeating: 0, count: 4_096)
    _ = readlink("/proc/\(getppid())/exe", &path, path.count - 1)
    return String(decoding: path.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self).hasSuffix("/roostd")
  }

  private static func answer(_ path: String) -> String {
    let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(path.utf8).prefix($0.count - 1)) }
    let result = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
    guard result == 0 else { return "no connection" }
    let hello = Pipe.bytes(FrameHeader(type: .hello), JSONPayload.encode(Hello(name: "sneaker", role: "client")))
    _ = write(descriptor, hello, hello.count)
    var header = [UInt8](repeating: 0, count: FrameHeader.byteCount)
    guard recv(descriptor, &header, header.count, Int32(MSG_WAITALL)) == header.count else { return "nothing" }
    return header[5] == FrameType.fatal.rawValue ? "refused" : "type \(header[5])"
  }
}
