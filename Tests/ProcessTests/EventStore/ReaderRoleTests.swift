import Contracts
import Cryptography
import Frames
import Glibc
import Nostr
import TestSupport
import Testing

extension ProcessTests {
  /// What a role may read of the store, whatever its worker asks.
  @Suite("Readers of the store")
  struct ReaderRoleTests {
    private static func attach(_ roost: RunningRoost, as role: Role, _ name: String) throws -> BusPeer {
      let answer = try roost.client().call("supervisor.attach", #"{"role":"\#(role.name)","name":"\#(name)"}"#)
      var hello = Hello(name: name, role: role.name)
      hello.token = try JSONPayload.decode(AttachGrant.self, from: answer.terminal.payload).token
      return try BusPeer(socket: roost.socket, hello: hello)
    }

    /// Which of the three kinds a method gives of what is stored, and of those the ones whose content it gives.
    private static func kinds(
      _ peer: BusPeer, _ method: String, _ filter: String, withContent: Bool = false
    ) throws -> [Int] {
      func texts(_ frames: [BusPeer.Frame]) -> [String] { frames.map { String(decoding: $0.payload, as: UTF8.self) } }
      var found: [String] = []
      if method == "store.query" {
        found = texts(try peer.call(method, "{\"filters\":[\(filter)]}").parts)
      } else {
        let id = try peer.ask(method, "{\"filters\":[\(filter)],\"policy\":\"cache-only\"}")
        try peer.wait("the end of what is stored") {
          found = texts(peer.parts(of: id))
          return found.last?.contains("isStoredEnd") == true
        }
      }
      return [1, 4, 1_059].filter { kind in
        found.contains {
          $0.contains(#""kind":\#(kind),"#) && (!withContent || $0.contains(#""content":"secret""#))
        }
      }
    }

    @Test("A provider's worker sees nothing of the queue; neither it nor the local relay calls off or names relays")
    func queue() throws {
      let relay = try KeepingRelay()
      try withRoost(PlannerRig.layout([relay.url])) { roost in
        let rig = PlannerRig(roost: roost, client: try roost.client())
        let text = String(decoding: Author().event("the user's").json, as: UTF8.self)
        let named = "{\"event\":\(text),\"relays\":[\"ws://127.0.0.1:9\"]}"
        #expect(try rig.client.call("plan.publish", named).isResponse)
        let id = try Event(json: Array(text.utf8)).id
        for role in [Role.dvmProvider, .localRelay] {
          let peer = try Self.attach(roost, as: role, "\(role.name)-2")
          #expect(try peer.call("plan.publish", named).refusal?.code == .denied, "\(role)")
          // The local relay's page shows what no relay took.
          let read = role == .localRelay ? [] : ["plan.publications"]
          for method in read + ["plan.cancel", "plan.retry", "plan.follow"] {
            #expect(try peer.call(method, "{\"id\":\"\(id)\"}").refusal?.code == .denied, "\(role) \(method)")
          }
          let observed = try peer.call("store.observe", #"{"filters":[{}],"relays":["ws://127.0.0.1:9"]}"#)
          #expect(observed.refusal?.code == .denied, "\(role)")
        }
        let tracker = try Self.attach(roost, as: .dvmTracker, "tracker-2")
        #expect(try tracker.call("plan.cancel", "{\"id\":\"\(id)\"}").refusal?.code == .denied)
        #expect(try rig.client.call("plan.cancel", "{\"id\":\"\(id)\"}").isResponse)
      }
    }

    private static var now: Int64 { Int64(time(nil)) }

    private static func message(_ kind: UInt16, to reader: PublicKey, at time: Int64 = now) -> Event {
      let author = SecretKey.generate()
      return UnsignedEvent(
        pubkey: author.publicKey, createdAt: time, kind: kind, tags: [["p", "\(reader)"]], content: "secret"
      ).signed(by: author)
    }

    @Test("Workers that do jobs or have them done are given no messages, whatever they ask")
    func noMessages() throws {
      try withRoost(.store) { roost in
        let client = try StoreClient(roost)
        let reader = SecretKey.generate().publicKey
        for kind: UInt16 in [1, 4, 1_059] { #expect(try client.publish(Self.message(kind, to: reader)).isResponse) }
        let named = "{\"#p\":[\"\(reader)\"]}"
        for method in ["store.query", "store.observe"] {
          #expect(try Self.kinds(client.peer, method, "{}", withContent: true) == [1, 4, 1_059])
          for role in [Role.dvmProvider, .dvmTracker] {
            let peer = try Self.attach(roost, as: role, "\(role.name)-\(method.dropFirst(6))")
            #expect(try Self.kinds(peer, method, "{}") == [1], "\(role) \(method)")
            #expect(try Self.kinds(peer, method, named) == [1], "\(role) \(method)")
          }
        }
        let provider = try Self.attach(roost, as: .dvmProvider, "counts")
        #expect(
          try provider.call("store.count", #"{"filters":[{"kinds":[4,1059]}]}"#).text.contains(#""count":0"#))
        let dialling = #"{"filters":[{"kinds":[1]}],"relays":["wss://relay.example"]}"#
        #expect(try provider.call("store.observe", dialling).refusal?.code == .denied)
      }
    }

    @Test("A push relay observes what wakes the keys it names, of the last days and messages without content")
    func wakes() throws {
      try withRoost(.store) { roost in
        let client = try StoreClient(roost)
        let (reader, other) = (SecretKey.generate().publicKey, SecretKey.generate().publicKey)
        for kind: UInt16 in [1, 4, 1_059] { #expect(try client.publish(Self.message(kind, to: reader)).isResponse) }
        let peer = try Self.attach(roost, as: .pushRelay, "wakes")
        let kinds = #""kinds":[1,4,1059]"#
        func named(_ key: PublicKey) -> String { "{\(kinds),\"#p\":[\"\(key)\"]}" }
        #expect(try Self.kinds(peer, "store.observe", named(reader)) == [1, 4, 1_059])
        #expect(try Self.kinds(peer, "store.observe", named(reader), withContent: true) == [1])
        #expect(try Self.kinds(peer, "store.observe", named(other)) == [])

        // What comes live, in pages as well.
        for pages in [false, true] {
          let id = try peer.ask(
            "store.observe", #"{"filters":[\#(named(other))],"policy":"cache-only","pages":\#(pages)}"#)
          try peer.wait("the end of what is stored") { peer.partCount(of: id) > 0 }
          let count = peer.partCount(of: id)
          let wrap = Self.message(1_059, to: other)
          #expect(try client.publish(wrap).isResponse)
          try peer.wait("the wrap") { peer.partCount(of: id) > count }
          let part = peer.parts(of: id)[count].payload
          let text = String(decoding: part, as: UTF8.self)
          #expect(text.contains("\(wrap.id)") && !text.contains("secret"), "\(text)")
          if pages {
            let record = try #require(try EventPage.read(part).first)
            #expect(try Event(json: Array(part[record.bytes])).content == "")
          }
        }

        // History is nobody's business here.
        let late = SecretKey.generate().publicKey
        for kind: UInt16 in [1, 4, 1_059] {
          #expect(try client.publish(Self.message(kind, to: late, at: Self.now - 6 * 86_400)).isResponse)
        }
        #expect(try Self.kinds(peer, "store.observe", named(late)) == [])
        #expect(try Self.kinds(client.peer, "store.observe", named(late)) == [1, 4, 1_059])

        let forbidden = [
          ("store.query", "{\"filters\":[\(named(reader))]}"), ("store.query", #"{"filters":[{}]}"#),
          ("store.observe", #"{"filters":[{}]}"#), ("store.observe", "{\"filters\":[{\(kinds)}]}"),
          ("store.observe", "{\"filters\":[{\"#p\":[\"\(reader)\"]}]}"),
          ("store.observe", "{\"filters\":[{\"kinds\":[30078],\"#p\":[\"\(reader)\"]}]}"),
          ("store.observe", "{\"filters\":[\(named(reader))],\"relays\":[\"wss://relay.example\"]}"),
          ("store.count", #"{"filters":[{"kinds":[1]}]}"#),
          ("store.seen", "{\"id\":\"\(Self.message(1, to: reader).id)\"}"),
          ("store.acknowledge", #"{"id":"x","seq":1}"#),
        ]
        for (method, arguments) in forbidden {
          #expect(try peer.call(method, arguments).refusal?.code == .denied, "\(method) \(arguments)")
        }
        let lists = "{\"filters\":[{\"kinds\":[10000],\"authors\":[\"\(reader)\"]}]}"
        #expect(try peer.call("store.query", lists).isResponse)
      }
    }

    @Test("What is withheld from a push relay takes none of its room: after large messages the next one comes")
    func largeMessages() throws {
      try withRoost(.store) { roost in
        let client = try StoreClient(roost)
        let (author, reader) = (SecretKey.generate(), SecretKey.generate().publicKey)
        let peer = try Self.attach(roost, as: .pushRelay, "wakes")
        let id = try peer.ask(
          "store.observe",
          "{\"filters\":[{\"kinds\":[1059],\"#p\":[\"\(reader)\"]}],\"policy\":\"cache-only\",\"pages\":true}")
        try peer.wait("the end of what is stored") { peer.partCount(of: id) > 0 }
        for number in 1...4 {
          let count = peer.partCount(of: id)
          let wrap = UnsignedEvent(
            pubkey: author.publicKey, createdAt: Self.now + Int64(number), kind: 1_059, tags: [["p", "\(reader)"]],
            content: String(repeating: "s", count: 600_000)
          ).signed(by: author)
          #expect(try client.publish(wrap).isResponse)
          try peer.wait("message \(number)") { peer.partCount(of: id) > count }
        }
      }
    }

    @Test("A local relay is given the gift wraps of the recipients it names, and none without")
    func localRelay() throws {
      try withRoost(.store) { roost in
        let client = try StoreClient(roost)
        let reader = SecretKey.generate().publicKey
        for kind: UInt16 in [1, 1_059] { #expect(try client.publish(Self.message(kind, to: reader)).isResponse) }
        let peer = try Self.attach(roost, as: .localRelay, "local")
        func count(_ rest: String) throws -> String {
          try peer.call("store.count", "{\"filters\":[{\"kinds\":[1,1059]}]\(rest)}").text
        }
        #expect(try count("").contains(#""count":1"#))
        #expect(try count(",\"recipients\":[\"\(reader)\"]").contains(#""count":2"#))
        for (method, arguments) in [
          ("store.query", #"{"filters":[{}]}"#), ("store.publish", "{}"),
          ("store.seen", "{\"id\":\"\(Self.message(1, to: reader).id)\"}"),
          ("store.observe", #"{"filters":[{}],"id":"x"}"#),
        ] {
          #expect(try peer.call(method, arguments).refusal?.code == .denied, "\(method)")
        }
        let connector = try Self.attach(roost, as: .relayConnector, "connector")
        for method in ["store.query", "store.count", "store.observe", "store.seen", "store.reconcile.open"] {
          #expect(try connector.call(method, #"{"filters":[{}]}"#).refusal?.code == .denied, "\(method)")
        }
      }
    }
  }
}
