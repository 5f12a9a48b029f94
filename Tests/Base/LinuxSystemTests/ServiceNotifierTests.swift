import Glibc
import LinuxSystem
import TestSupport
import Testing

@Suite struct ServiceNotifierTests {
  private func received(_ descriptor: Int32) -> String {
    var bytes = [UInt8](repeating: 0, count: 512)
    let count = recv(descriptor, &bytes, bytes.count, Int32(MSG_DONTWAIT))
    return String(decoding: bytes.prefix(max(count, 0)), as: UTF8.self)
  }

  @Test("A message reaches a path and an abstract name as one datagram")
  func delivery() throws {
    let directory = try TemporaryDirectory()
    for address in ["\(directory.path)/notify", "@roost-test-\(getpid())-\(UInt32.random(in: .min ... .max))"] {
      let socket = datagramListener(address)
      defer { Descriptors.close(socket) }
      try ServiceNotifier(address: address)?.send("READY=1\nSTATUS=2 of 2 workers ready")
      #expect(received(socket) == "READY=1\nSTATUS=2 of 2 workers ready")
    }
  }

  @Test("Without an address nobody is told; an address that cannot be one is a fault")
  func addresses() throws {
    #expect(try ServiceNotifier(address: nil) == nil)
    #expect(try ServiceNotifier(address: "") == nil)
    #expect(throws: SystemFault.self) { try ServiceNotifier(address: "relative") }
    let long = "/" + String(repeating: "x", count: 107)
    #expect(throws: SystemFault.self) { try ServiceNotifier(address: long) }
    #expect(try ServiceNotifier(address: String(long.dropLast())) != nil)
  }

  @Test("A service manager that is not there or does not read is a fault, never a wait")
  func absent() throws {
    let directory = try TemporaryDirectory()
    let path = "\(directory.path)/notify"
    let notifier = try #require(try ServiceNotifier(address: path))
    #expect(throws: SystemFault.self) { try notifier.send("READY=1") }
    let socket = datagramListener(path)
    defer { Descriptors.close(socket) }
    let fault = #expect(throws: SystemFault.self) { for _ in 0..<100_000 { try notifier.send("WATCHDOG=1") } }
    #expect(fault?.code == EAGAIN)
  }
}
