import Contracts
import Testing

@Suite("Where local relays listen")
struct OwnAddressesTests {
  private static let own = OwnAddresses(["127.0.0.1:4869", "[::1]:4869", "192.168.1.5:4870", "[2001:db8::5]:4871"])

  private func complaint(about text: String) -> String? {
    do throws(ListenAddressFault) {
      _ = try ListenAddress(text)
      return nil
    } catch { return "\(error)" }
  }

  @Test(
    "An address is a literal one with a port, and is written as the shortest",
    arguments: [
      ("127.0.0.1:4869", "127.0.0.1:4869"), ("[::1]:1", "[::1]:1"), ("0.0.0.0:65535", "0.0.0.0:65535"),
      ("[2001:DB8:0:0::5]:80", "[2001:db8::5]:80"), ("[::ffff:127.0.0.1]:80", "127.0.0.1:80"), ("[::]:7", "[::]:7"),
    ])
  func addresses(text: String, written: String) throws {
    #expect("\(try ListenAddress(text))" == written)
  }

  @Test(
    "What is none is refused",
    arguments: [
      "", ":", "4869", "127.0.0.1", "127.0.0.1:", "127.0.0.1:0", "127.0.0.1:65536", "127.0.0.1:+1", "127.0.0.1: 1",
      "127.1:80", "::1:4869", "[::1]", "[127.0.0.1]:80", "[::1%lo]:80", "relay.example:80", "*:80", ":4869",
    ])
  func noAddresses(text: String) {
    #expect(complaint(about: text) != nil)
  }

  @Test("The complaint says what to write instead")
  func complaints() {
    let form = "an address and a port such as \"127.0.0.1:4869\" or \"[::1]:4869\""
    #expect(complaint(about: "4869") == "\"4869\" is not \(form)")
    #expect(
      complaint(about: "localhost:1")
        == "\"localhost:1\" is not \(form); a name is not looked up here, localhost is 127.0.0.1")
    #expect(
      complaint(about: "::1:4869")
        == "\"::1:4869\": write an IPv6 address in brackets, and its port after it: [::1]:4869")
    #expect(complaint(about: "127.0.0.1:0") == "\"127.0.0.1:0\": the port goes from 1 to 65535")
  }

  @Test("Two overlap where one server would keep the other from listening")
  func overlaps() throws {
    func overlap(_ left: String, _ right: String) throws -> Bool {
      let (left, right) = (try ListenAddress(left), try ListenAddress(right))
      #expect(left.overlaps(right) == right.overlaps(left))
      return left.overlaps(right)
    }
    #expect(try overlap("127.0.0.1:80", "127.0.0.1:80"))
    #expect(try overlap("0.0.0.0:80", "127.0.0.1:80"))
    #expect(try overlap("[::]:80", "[::1]:80"))
    #expect(try !overlap("[::]:80", "127.0.0.1:80") && !overlap("[::]:80", "0.0.0.0:80"), "both take both")
    #expect(try !overlap("127.0.0.1:80", "127.0.0.1:81") && !overlap("0.0.0.0:80", "0.0.0.0:81"))
    #expect(try !overlap("127.0.0.1:80", "127.0.0.2:80") && !overlap("0.0.0.0:80", "[::1]:80"))
  }

  @Test(
    "A loopback host in any spelling is ours at one of our ports",
    arguments: [
      "localhost", "LOCALHOST", "localhost.", "a.localhost", "127.0.0.1", "127.3.2.1", "::1", "0:0:0:0:0:0:0:1",
      "::ffff:127.0.0.1", "0.0.0.0", "::",
    ])
  func loopback(host: String) {
    for port: UInt16 in [4_869, 4_870, 4_871] { #expect(Self.own.includes(host: host, port: port)) }
    #expect(!Self.own.includes(host: host, port: 4_872))
    #expect(!OwnAddresses().includes(host: host, port: 4_869))
  }

  @Test("Another host is ours only as the very address that is listened at")
  func others() {
    #expect(Self.own.includes(host: "192.168.1.5", port: 4_870))
    #expect(Self.own.includes(host: "::ffff:192.168.1.5", port: 4_870))
    #expect(Self.own.includes(host: "2001:db8:0::5", port: 4_871))
    for host in ["192.168.1.6", "relay.example", "localhost.example", "notlocalhost", "2001:db8::5"] {
      #expect(!Self.own.includes(host: host, port: 4_870), "\(host)")
    }
  }

  @Test("A connection is ours by where it has led, and by leading from an address to itself")
  func connections() {
    let everywhere = OwnAddresses(["0.0.0.0:4869"])
    #expect(everywhere.includes(peer: "10.0.0.9", port: 4_869, local: "10.0.0.9"))
    #expect(everywhere.includes(peer: "127.0.1.1", port: 4_869, local: "127.0.0.1"))
    #expect(!everywhere.includes(peer: "10.0.0.9", port: 4_869, local: "10.0.0.8"))
    #expect(!everywhere.includes(peer: "10.0.0.9", port: 4_868, local: "10.0.0.9"))
    #expect(Self.own.includes(peer: "192.168.1.5", port: 4_870, local: "192.168.1.7"))
    #expect(!Self.own.includes(peer: "?", port: 4_870, local: "?"))
  }

  @Test("What cannot be read is left out")
  func unreadable() {
    #expect(OwnAddresses(["nonsense", "relay.example:80"]) == OwnAddresses())
  }
}
