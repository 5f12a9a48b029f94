import Contracts
import Frames
import Glibc
import TestSupport
import Testing

extension ProcessTests {
  /// Relays that other people name, and that stand where only people of the house should come.
  @Suite("Relays that other people name")
  struct ForeignRelayTests {
    /// `relay.publish` to a relay that is named by its address or by something that resolves to it.
    private func publish(_ client: BusPeer, _ relay: String, isForeign: Bool) throws -> BusPeer.Answer {
      let event = RelayStep.eventJSON(1)
      return try client.call("relay.publish", #"{"relay":"\#(relay)","event":\#(event),"isForeign":\#(isForeign)}"#)
    }

    @Test(
      "An event is not brought to a private address, however that is written, and the reason is told",
      arguments: [0..<3, 3..<6])
    func publishing(part: Range<Int>) throws {
      let relay = try ScriptedRelay(.accept(), .forever(.expect("EVENT"), .ok(true, "")))
      let port = try #require(relay.url.split(separator: ":").last)
      try withRoost(.connector("[]", ["ephemeral": "true"])) { roost in
        let client = try roost.client()
        let places = [
          ("ws://127.0.0.1:\(port)", "127.0.0.1, a loopback address"),
          ("ws://localhost:\(port)", ", a loopback address"),
          ("ws://[::ffff:127.0.0.1]:\(port)", ", a loopback address"),
          ("ws://10.1.2.3:\(port)", "10.1.2.3, a private address"),
          ("ws://0.0.0.0:\(port)", "0.0.0.0, an unspecified address"),
          ("ws://169.254.169.254:\(port)", "169.254.169.254, a link-local address"),
        ]
        // One connector dials four relays a minute that others name.
        for (place, words) in places[part] {
          let refusal = try publish(client, place, isForeign: true).refusal
          #expect(refusal?.code == "relay-unreachable" && refusal?.outcome == .notStarted, "\(place)")
          #expect(
            refusal?.message.contains(words + "; relays that other people name are not dialled there") == true,
            "\(refusal?.message ?? "")")
        }
        #expect(relay.visits.isEmpty)
        let answer = try publish(client, relay.url, isForeign: false)
        #expect(answer.isResponse, "what somebody of the house names is dialled at once: \(answer.text)")
        #expect(relay.visits.count == 1)
      }
    }

    private static var hasNamespaces: Bool {
      getuid() == 0 && access("/usr/bin/unshare", X_OK) == 0 && access("/usr/sbin/ip", X_OK) == 0
    }

    /// A roostd in a network of its own, whose one interface has a public address, as a server's has.
    private func withPublicAddress(_ body: (BusPeer) throws -> Void) throws {
      var layout = Layout.connector("[]", ["ephemeral": "true"])
      let script = "/usr/sbin/ip link set lo up && /usr/sbin/ip addr add 8.8.4.4/24 dev lo && exec \"$0\""
      layout.environment = ["/usr/bin/unshare", "--net", "/bin/sh", "-c", script]
      try withRoost(layout) { try body(try $0.client()) }
    }

    @Test(
      "An event is not brought to a public address of this machine or of its network, but where the user has named it",
      .enabled(if: hasNamespaces, "a network of its own takes root, unshare and ip"))
    func publicNeighbours() throws {
      try withPublicAddress { client in
        let places = [
          ("ws://8.8.4.4:9", "8.8.4.4, an address of this machine"),
          ("ws://[::ffff:8.8.4.4]:9", ", an address of this machine"),
          ("ws://8.8.4.1:9", "8.8.4.1, an address in a network of this machine"),
        ]
        for (place, words) in places {
          let message = try publish(client, place, isForeign: true).refusal?.message ?? ""
          #expect(message.contains(words + "; relays that other people name are not dialled there"), "\(message)")
        }
        let own = try publish(client, "ws://8.8.4.4:9", isForeign: false).refusal?.message ?? ""
        #expect(own.contains("refused") && !own.contains("an address of this machine"), "it was dialled: \(own)")
        let arguments = #"{"relay":"ws://8.8.4.4:9","isForeign":true}"#
        let document = try client.call("relay.information", arguments).refusal?.message ?? ""
        #expect(document.contains("8.8.4.4, an address of this machine"), "\(document)")
      }
    }

    @Test("A relay that is configured is not foreign, whoever else names it")
    func configured() throws {
      let relay = try ScriptedRelay(.accept(), .forever(.expect("EVENT"), .ok(true, "")))
      try withRelay(relay) { rig in
        let answer = try publish(rig.client, relay.url, isForeign: true)
        #expect(answer.isResponse, "\(answer.text)")
      }
    }
  }
}
