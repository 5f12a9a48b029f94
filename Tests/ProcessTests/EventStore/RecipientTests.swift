import Contracts
import Cryptography
import Frames
import Nostr
import TestSupport
import Testing

extension ProcessTests {
  /// Gift wraps are given to those they are for, where a caller says so.
  @Suite("Recipients of gift wraps")
  struct RecipientTests {
    private let keys = (0..<3).map { _ in SecretKey.generate() }

    private func wrap(for key: Int, _ time: Int64, kind: UInt16 = 1_059) -> Event {
      let once = SecretKey.generate()
      return UnsignedEvent(
        pubkey: once.publicKey, createdAt: time, kind: kind, tags: [["p", "\(keys[key].publicKey)"]], content: "x"
      ).signed(by: once)
    }

    private func list(_ indices: [Int]) -> String {
      "[\(indices.map { "\"\(keys[$0].publicKey)\"" }.joined(separator: ","))]"
    }

    @Test("Limits are exact, counts tell of no other, and neither ids, what comes, nor resuming goes around it")
    func restricted() throws {
      try withRoost(.store) { roost in
        let (store, other) = (try StoreClient(roost), try StoreClient(roost))
        let notes = makeEvents(0..<20)
        let wraps = (0..<60).map { wrap(for: $0 % 3, 1_700_000_000 + Int64($0)) }
        #expect(try store.offer((notes + wraps).map(\.json)).count == 80)
        func contents(_ arguments: String, _ recipients: String?) throws -> [EventID] {
          let asked = #"{"filters":[\#(arguments)]\#(recipients.map { ",\"recipients\":\($0)" } ?? "")}"#
          let answer = try store.peer.call("store.query", asked)
          #expect(answer.isResponse, "\(answer.text)")
          return try answer.parts.map { try Event(json: $0.payload).id }
        }
        func ids(of key: Int) -> [EventID] { wraps.indices.filter { $0 % 3 == key }.reversed().map { wraps[$0].id } }
        #expect(try contents(#"{"kinds":[1059]}"#, nil).count == 60)
        #expect(try contents(#"{"kinds":[1059]}"#, "[]").isEmpty)
        #expect(try contents(#"{"kinds":[1059],"limit":5}"#, list([1])) == Array(ids(of: 1).prefix(5)))
        #expect(try contents(#"{"limit":30}"#, list([2])).count == 30)
        #expect(try contents("{}", list([2])).count == 40 && contents("{}", list([0, 2])).count == 60)
        #expect(try contents(#"{"ids":["\#(wraps[0].id)","\#(wraps[1].id)"]}"#, list([1])) == [wraps[1].id])
        #expect(try contents(##"{"#p":["\##(keys[0].publicKey)"]}"##, list([1])).isEmpty)
        func count(_ filters: String, _ recipients: String) throws -> Int {
          try store.counted("store.count", #"{"filters":[\#(filters)],"recipients":\#(recipients)}"#).count
        }
        #expect(try count("{}", "[]") == 20 && count(#"{"kinds":[1059]},{"kinds":[1]}"#, list([1])) == 40)
        #expect(
          try store.counted("store.query", #"{"filters":[{"kinds":[1059],"limit":20}],"recipients":\#(list([0]))}"#)
            == StoreCount(count: 20, isComplete: true))
        let id = try store.peer.ask(
          "store.observe", #"{"filters":[{}],"recipients":\#(list([1])),"pages":true,"id":"inbox"}"#)
        #expect(try store.await(40, of: id).flatMap(\.events).count == 40)
        let live = [
          wrap(for: 0, 1_700_000_100), wrap(for: 1, 1_700_000_101), wrap(for: 2, 1_700_000_102, kind: 21_059),
          wrap(for: 1, 1_700_000_103, kind: 21_059), makeEvents(30..<31)[0],
        ]
        for event in live { #expect(try other.publish(event).isResponse) }
        let came = try store.await(43, of: id).flatMap(\.events).dropFirst(40)
        #expect(came.map(\.json) == [1, 3, 4].map { String(decoding: live[$0].json, as: UTF8.self) })
        let after = try store.peer.ask(
          "store.observe", #"{"filters":[{}],"recipients":\#(list([0])),"pages":true,"afterSeq":20}"#)
        #expect(try store.await(22, of: after).flatMap(\.events).count == 22)
        // Under the same name for somebody else it begins anew: what was passed over is for him.
        #expect(try store.peer.call("store.acknowledge", #"{"id":"inbox","seq":80}"#).isResponse)
        let others = try store.peer.ask(
          "store.observe", #"{"filters":[{}],"recipients":\#(list([2])),"pages":true,"id":"inbox"}"#)
        #expect(try store.await(41, of: others).flatMap(\.events).count == 41)
      }
    }

    @Test("Keys that are none are refused with their place, and so are too many")
    func arguments() throws {
      try withRoost(.store) { roost in
        let peer = try roost.client()
        for method in ["store.query", "store.count", "store.observe"] {
          let key = "\(keys[0].publicKey)"
          for (wrong, word) in [
            (#"["\#(key)","\#(key.uppercased())"]"#, "'recipients[1]'"), (#"["npub1"]"#, "'recipients[0]'"),
            ("[" + Array(repeating: "\"\(key)\"", count: 257).joined(separator: ",") + "]", "257 keys"),
            (#""\#(key)""#, "'recipients' is not a list"),
          ] {
            let refusal = try peer.call(method, #"{"filters":[{}],"recipients":\#(wrong)}"#).refusal
            #expect(refusal?.code == .badRequest && refusal?.message.contains(word) == true, "\(method) \(word)")
          }
        }
      }
    }
  }
}
