import Glibc
import LinuxSystem
import TestSupport

/// The real program under test, and the pipes a supervisor would hold.
enum Shim {
  static let path = SpawnedProcess.builtProgram("roost-exec")

  /// Spawns `roost-exec OPTION... -- /bin/sh -c SCRIPT`.
  static func shell(
    _ options: [String], _ script: String, environment: [String] = ["PATH=/usr/bin:/bin"],
    descriptors: [Int32: Int32] = [:], blocked: [Int32] = [], closed: [Int32] = []
  ) throws -> SpawnedProcess {
    try SpawnedProcess(
      path, options + ["--env", "PATH", "--", "/bin/sh", "-c", script], environment: environment,
      descriptors: descriptors, blocked: blocked, closed: closed)
  }

  /// An instance mark that no other test and no earlier run has.
  static func newInstance() -> String {
    let number = UInt64.random(in: .min ... .max)
    let text = String(number, radix: 16)
    return String(repeating: "0", count: 16 - text.count) + text
  }

  /// Processes whose environment holds the mark, as far as this user may see.
  static func marked(_ instance: String) -> Set<pid_t> {
    guard let folder = opendir("/proc") else { return [] }
    defer { closedir(folder) }
    var found: Set<pid_t> = []
    let mark = Array("ROOST_INSTANCE=\(instance)".utf8)
    while let entry = readdir(folder) {
      let name = withUnsafeBytes(of: &entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
      guard let pid = pid_t(name) else { continue }
      let environment = bytes(of: "/proc/\(pid)/environ")
      if environment.split(separator: 0).contains(where: { $0.elementsEqual(mark) }) { found.insert(pid) }
    }
    return found
  }

  private static func bytes(of path: String) -> [UInt8] {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return [] }
    defer { close(descriptor) }
    var chunk = [UInt8](repeating: 0, count: 64 << 10)
    let count = read(descriptor, &chunk, chunk.count)
    return Array(chunk.prefix(max(count, 0)))
  }
}

/// A pipe whose ends close with it.
final class Pipe {
  let reader: Int32
  private(set) var writer: Int32

  init() throws {
    let pair = try Descriptors.pipe()
    (reader, writer) = (pair.first, pair.second)
  }

  deinit {
    close(reader)
    closeWriter()
  }

  func closeWriter() {
    if writer >= 0 { close(writer) }
    writer = -1
  }

  func write(_ text: String) { _ = text.withCString { Glibc.write(writer, $0, strlen($0)) } }

  /// Closes our writing end and reads to the end that the last other writer makes.
  func readAll(within seconds: Double = 30) throws -> String {
    closeWriter()
    var collected: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 4096)
    while true {
      var entry = pollfd(fd: reader, events: Int16(POLLIN), revents: 0)
      guard poll(&entry, 1, Int32(seconds * 1000)) > 0 else { throw DeadlinePassed(description: "the pipe to end") }
      let count = read(reader, &chunk, chunk.count)
      if count <= 0 { return String(decoding: collected, as: UTF8.self) }
      collected += chunk[..<count]
    }
  }
}
