import Addresses
import Testing

@Suite("What strangers may have dialled") struct ForeignReachTests {
  private func reach(_ interfaces: (String, Int)...) throws -> ForeignReach {
    ForeignReach(interfaces: try interfaces.map { .init(try #require(IPAddress($0)), prefixBitCount: $1) })
  }

  private func words(_ reach: ForeignReach, _ text: String) throws -> String {
    reach.objection(to: try #require(IPAddress(text))) ?? "may be"
  }

  @Test("An interface's address is this machine's, and its network is near, however global both are")
  func fourth() throws {
    let reach = try reach(("127.0.0.1", 8), ("8.8.4.4", 22), ("1.2.3.4", 32))
    for own in ["8.8.4.4", "1.2.3.4", "::ffff:8.8.4.4", "64:ff9b::808:404", "2002:808:404::1", "::8.8.4.4"] {
      #expect(try words(reach, own) == "an address of this machine", "\(own)")
    }
    for near in ["8.8.4.1", "8.8.7.255", "::ffff:8.8.5.9", "64:ff9b::808:501"] {
      #expect(try words(reach, near) == "an address in a network of this machine", "\(near)")
    }
    for far in ["8.8.8.0", "8.8.3.255", "1.2.3.5", "2a00::1", "::ffff:8.8.8.8"] {
      #expect(try words(reach, far) == "may be", "\(far)")
    }
    #expect(try words(reach, "10.1.2.3") == "a private address")
    #expect(try words(reach, "0.0.0.0") == "an unspecified address")
  }

  @Test("Of IPv6 a whole /64 is near, and of a global address its /48; a prefix that is shorter counts as it is")
  func sixth() throws {
    let home = try reach(("2a02:908:1:7::5", 128), ("fe80::1", 64))
    #expect(try words(home, "2a02:908:1:7::5") == "an address of this machine")
    for near in ["2a02:908:1:7::1", "2a02:908:1::1", "2a02:908:1:ffff::9"] {
      #expect(try words(home, near) == "an address in a network of this machine", "\(near)")
    }
    #expect(try words(home, "2a02:908:2::1") == "may be")
    let wide = try reach(("2a02:908:1:7::5", 40))
    #expect(try words(wide, "2a02:908:ff::1") == "an address in a network of this machine")
    #expect(try words(wide, "2a02:908:100::1") == "may be")
  }

  @Test("A tunnel that leads everywhere is no network: else nothing could be dialled")
  func tunnels() throws {
    let reach = try reach(("8.8.4.4", 0), ("2a02:908:1::5", 3), ("9.9.9.9", 7))
    #expect(try words(reach, "1.1.1.1") == "may be" && words(reach, "2606:4700::1") == "may be")
    #expect(try words(reach, "8.8.4.4") == "an address of this machine" && words(reach, "9.9.9.10") == "may be")
    #expect(try words(reach, "2a02:908:1:2::3") == "an address in a network of this machine")
  }

  @Test("Where the interfaces cannot be told nothing is dialled, and a connection to itself is seen without them")
  func unknown() throws {
    let (unknown, none) = (ForeignReach(interfaces: nil), ForeignReach(interfaces: []))
    #expect(try words(unknown, "1.1.1.1").contains("cannot be told") && words(none, "1.1.1.1") == "may be")
    let (own, other) = (try #require(IPAddress("8.8.4.4")), try #require(IPAddress("8.8.4.5")))
    #expect(none.objection(to: own, from: own) == "an address of this machine")
    #expect(none.objection(to: own, from: other) == nil)
  }

  @Test("A mask is as long as its bits, and an interface without one is alone in its network")
  func masks() throws {
    let own = try #require(IPAddress("8.8.4.4"))
    #expect(ForeignReach.Interface(own, mask: IPAddress("255.255.252.0")).prefixBitCount == 22)
    #expect(ForeignReach.Interface(own, mask: nil).prefixBitCount == 32)
  }
}
