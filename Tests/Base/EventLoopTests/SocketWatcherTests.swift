import EventLoop
import Glibc
import TestSupport
import Testing

@Suite("Watching sockets", .serialized)
struct SocketWatcherTests {
  private func pair() throws -> (Int32, Int32) {
    var pair: [Int32] = [-1, -1]
    guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0, &pair) == 0 else {
      throw LoopFault(code: -errno, doing: "make sockets")
    }
    return (pair[0], pair[1])
  }

  /// Waits until the loop has looked at its sockets once more: one that is ready now has told so.
  @EventLoopActor
  private func looked() async throws {
    let (here, there) = try pair()
    defer {
      close(here)
      close(there)
    }
    var isTold = false
    let witness = try SocketWatcher(socket: here) { _ in isTold = true }
    witness.watch(for: .writable)
    try await eventually("the loop has looked") { isTold }
    witness.close()
  }

  @Test("tells what is watched for and nothing else, until it is closed")
  func readiness() async throws {
    let (here, there) = try pair()
    defer {
      close(here)
      close(there)
    }
    try await LoopThread.run {
      var seen: [SocketWatcher.Readiness] = []
      let watcher = try SocketWatcher(socket: here) { seen.append($0) }
      #expect(send(there, "x", 1, 0) == 1)
      try await looked()
      #expect(seen.isEmpty, "nothing is watched for yet")
      watcher.watch(for: .readable)
      try await eventually("it can be read") { !seen.isEmpty }
      watcher.watch(for: .writable)
      seen = []
      try await eventually("it can be written") { !seen.isEmpty }
      #expect(Set(seen) == [.writable])
      watcher.watch(for: [.readable, .writable])
      seen = []
      try await eventually("it can be both") { !seen.isEmpty }
      #expect(seen.first == [.readable, .writable])
      watcher.watch(for: [])
      seen = []
      try await looked()
      #expect(seen.isEmpty)
      watcher.watch(for: .writable)
      watcher.close()
      watcher.close()
      watcher.watch(for: .writable)
      try await looked()
      #expect(seen.isEmpty, "it is closed")
    }
  }

  @Test("may be closed by what it calls, and refuses what is no socket")
  func closing() async throws {
    let (here, there) = try pair()
    defer {
      close(here)
      close(there)
    }
    try await LoopThread.run {
      var watcher: SocketWatcher?
      var count = 0
      watcher = try SocketWatcher(socket: here) { _ in
        count += 1
        watcher?.close()
        watcher = nil
      }
      watcher?.watch(for: .writable)
      try await eventually("it was called") { count > 0 }
      try await looked()
      #expect(count == 1)
      #expect(throws: LoopFault.self) { try SocketWatcher(socket: -1) { _ in } }
    }
  }
}
