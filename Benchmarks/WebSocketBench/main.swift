import EventLoop
import Glibc

// What an idle WebSocket costs a server, and how fast it sends.
//
//     websocket-bench                   measures, with clients in a second process; prints one line of JSON
//     websocket-bench hold PORT         that process: 10,000 connections, one message there and back on each
//     websocket-bench drink PORT        … one connection that takes a million messages of 600 bytes as bytes
//     websocket-bench drink-ours PORT   … the same with our own client, which reads them as messages
//
// Memory is what the kernel counts as resident, before the first connection and when all are idle again. Both processes
// need 10,100 descriptors.

let arguments = CommandLine.arguments.dropFirst().map { $0 }
let port = arguments.dropFirst().first.flatMap { UInt16($0) }

EventLoopActor.task {
  do {
    switch (arguments.first, port) {
    case ("hold", let port?): try await BenchClients.hold(port)
    case ("drink", let port?): try await BenchClients.drink(port, isOurs: false)
    case ("drink-ours", let port?): try await BenchClients.drink(port, isOurs: true)
    default: try await measure()
    }
  } catch {
    print("websocket-bench: \(error)")
    exit(1)
  }
  EventLoop.process.stop()
}
EventLoop.process.run()

@EventLoopActor
func measure() async throws {
  let server = try BenchServer()
  // Once, so that what the process needs anyway is there.
  let warm = try await BareClient(to: server.port, target: "/echo")
  warm.sendMessage()
  await warm.bytes(BareClient.frameByteCount)
  let before = residentByteCount()
  let holder = try BenchChild("hold", server.port)
  _ = await holder.line()
  let after = residentByteCount()
  await server.tellAll()
  let afterBroadcast = residentByteCount()
  holder.kill()
  var rates: [Int] = []
  for program in ["drink", "drink-ours"] {
    let child = try BenchChild(program, server.port)
    rates.append(Int(Double(BenchPlan.floodCount) / (Double(await child.line()) ?? 1) * 1e9))
    child.kill()
  }
  let perConnection = (after - before) / BenchPlan.connectionCount
  print(
    "{\"bytesPerIdleConnection\": \(perConnection), \"processBytes\": \(after), \"processBytesAfterBroadcast\": "
      + "\(afterBroadcast), \"messagesPerSecond\": \(rates[0]), \"messagesPerSecondOurs\": \(rates[1])}")
}

/// This program again, in a process of its own.
@EventLoopActor
final class BenchChild {
  private let child: ChildProcess
  private let output: ByteStream

  init(_ program: String, _ port: UInt16) throws(LoopFault) {
    var ends: [Int32] = [-1, -1]
    guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0, &ends) == 0 else {
      throw LoopFault(code: -errno, doing: "make a pair of sockets")
    }
    child = try ChildProcess(
      path: "/proc/self/exe", arguments: [program, "\(port)"], environment: [],
      descriptors: [STDIN_FILENO, ends[1], STDERR_FILENO]
    ) { _ in }
    close(ends[1])
    output = try ByteStream(descriptor: ends[0])
  }

  /// The first line that it prints.
  func line() async -> String {
    var line = ""
    await withCheckedContinuation { (done: CheckedContinuation<Void, Never>) in
      output.onInput = { bytes in
        guard line.isEmpty, let end = bytes.firstIndex(of: UInt8(ascii: "\n")) else { return 0 }
        line = String(decoding: bytes[..<end], as: UTF8.self)
        done.resume()
        return bytes.count
      }
      output.onEnd = { _ in preconditionFailure("the other process has ended") }
      output.startReading()
    }
    return line
  }

  func kill() {
    output.close()
    child.signal(SIGKILL)
  }
}

func residentByteCount() -> Int {
  guard let file = fopen("/proc/self/statm", "r") else { return 0 }
  defer { fclose(file) }
  var (size, resident) = (0, 0)
  _ = withUnsafeMutablePointer(to: &size) { size in
    withUnsafeMutablePointer(to: &resident) { resident in
      withVaList([size, resident]) { vfscanf(file, "%ld %ld", $0) }
    }
  }
  return resident * Int(getpagesize())
}
