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
  _ = try await answer(of: "hold", server.port)
  let after = residentByteCount()
  let bare = Double(try await answer(of: "drink", server.port)) ?? 0
  let ours = Double(try await answer(of: "drink-ours", server.port)) ?? 0
  let perConnection = (after - before) / BenchPlan.connectionCount
  let rate = { (nanoseconds: Double) in Int(Double(BenchPlan.floodCount) / nanoseconds * 1e9) }
  print(
    "{\"bytesPerIdleConnection\": \(perConnection), \"processBytes\": \(after), \"connections\": "
      + "\(server.connectionCount), \"messagesPerSecond\": \(rate(bare)), \"messagesPerSecondOurs\": \(rate(ours))}")
}

/// Runs this program again, and gives the first line that it prints; kills it then, which the server sees later.
@EventLoopActor
func answer(of program: String, _ port: UInt16) async throws(LoopFault) -> String {
  var ends: [Int32] = [-1, -1]
  guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0, &ends) == 0 else {
    throw LoopFault(code: -errno, doing: "make a pair of sockets")
  }
  let child = try ChildProcess(
    path: "/proc/self/exe", arguments: [program, "\(port)"], environment: [],
    descriptors: [STDIN_FILENO, ends[1], STDERR_FILENO]
  ) { _ in }
  close(ends[1])
  let output = try ByteStream(descriptor: ends[0])
  var line = ""
  await withCheckedContinuation { (done: CheckedContinuation<Void, Never>) in
    output.onInput = { bytes in
      guard line.isEmpty, let end = bytes.firstIndex(of: UInt8(ascii: "\n")) else { return 0 }
      line = String(decoding: bytes[..<end], as: UTF8.self)
      done.resume()
      return bytes.count
    }
    output.onEnd = { _ in preconditionFailure("\(program) has ended") }
    output.startReading()
  }
  output.close()
  child.signal(SIGKILL)
  return line
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
