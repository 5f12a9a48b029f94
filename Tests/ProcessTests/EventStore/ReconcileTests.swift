import Contracts
import Cryptography
import Frames
import Nostr
import Reconciliation
import TestSupport
import Testing

/// A session of `store.reconcile.open`.
private struct Session {
  let peer: BusPeer
  /// The request that stays open.
  let request: UInt64
  let number: Int64
  let answer: [UInt8]

  init(_ peer: BusPeer, _ filter: String, _ message: [UInt8]) throws {
    self.peer = peer
    request = try peer.ask(
      "store.reconcile.open", #"{"filter":\#(filter),"message":"\#(Hexadecimal.text(of: message))"}"#)
    let request = request
    try peer.wait("the first answer") { peer.partCount(of: request) > 0 }
    let part = try #require(peer.parts(of: request).first)
    #expect(part.header.flags.contains(.raw))
    let told = try #require(ReconcileMessage(payload: part.payload))
    (number, answer) = (told.session, told.bytes)
  }

  /// Sends a message; the answer to it.
  func next(_ message: [UInt8]) throws -> [UInt8] {
    let answer = try peer.next(number, message)
    #expect(answer.isResponse, "\(answer.text)")
    return try #require(ReconcileMessage(payload: answer.terminal.payload)).bytes
  }

  /// Lets `side` ask until it knows all.
  static func reconcile(_ peer: BusPeer, _ filter: String, _ side: Reconciler) throws -> (Session, Reconciler.Step) {
    let session = try Session(peer, filter, side.initiate())
    var all = try side.received(session.answer)
    while let message = all.next {
      let step = try side.received(try session.next(message))
      all.next = step.next
      all.haves += step.haves
      all.needs += step.needs
    }
    return (session, all)
  }
}

extension BusPeer {
  fileprivate func next(_ session: Int64, _ message: [UInt8]) throws -> Answer {
    let payload = ReconcileMessage(session: session, bytes: message).payload
    let header = try request("store.reconcile.next", flags: .raw)
    try wait("credit") { hasCredit }
    spend(payload.count)
    send(header, payload)
    return try answer(to: header.id)
  }
}

extension BusPeer {
  /// Whether a session begins; else it is refused as `full`.
  fileprivate func opensSession() throws -> Bool {
    let id = try ask("store.reconcile.open", #"{"filter":{},"message":"61"}"#)
    var answer: Answer?
    try wait("a session or a refusal") {
      answer = takeAnswer(to: id)
      return answer != nil || partCount(of: id) > 0
    }
    if let answer { #expect(answer.refusal?.code == .full, "\(answer.text)") }
    return answer == nil
  }
}

private func records(_ events: [Event]) -> ReconcileRecords {
  ReconcileRecords(events.map { ReconcileRecord(timestamp: UInt64($0.createdAt), id: $0.id) })
}

extension ProcessTests {
  @Suite("Reconciling with the event store (NIP-77)")
  struct ReconcileTests {
    @Test("finds what each side lacks, of a filter, without what has expired or was deleted")
    func finds() throws {
      try withRoost(.store) { roost in
        let store = try StoreClient(roost)
        let author = SecretKey.generate()
        let common = makeEvents(0..<300)
        let there = makeEvents(300..<340)
        let deleted = UnsignedEvent(pubkey: author.publicKey, createdAt: 5, kind: 1, tags: [], content: "")
          .signed(by: author)
        let deletion = UnsignedEvent(
          pubkey: author.publicKey, createdAt: 6, kind: 5, tags: [["e", "\(deleted.id)"]], content: ""
        ).signed(by: author)
        let stored = common + there + makeEvents(0..<50, kind: 7) + [deleted, deletion]
        _ = try store.peer.answer(to: try store.importRun(stored.map(\.json)))
        let here = makeEvents(100..<120)
        let side = Reconciler(records(common + here), messageByteMaximum: Reconciler.messageByteMinimum)
        let (session, found) = try Session.reconcile(store.peer, #"{"kinds":[1]}"#, side)
        #expect(Set(found.haves) == Set(here.map(\.id)))
        #expect(Set(found.needs) == Set(there.map(\.id)))
        let (_, newest) = try Session.reconcile(store.peer, #"{"kinds":[1],"limit":3}"#, Reconciler(records([])))
        #expect(newest.needs.sorted() == there.suffix(3).map(\.id).sorted())
        // Of a session its own caller knows, and nobody else.
        let other = try roost.client()
        #expect(try other.next(session.number, side.initiate()).refusal?.code == .noSuchSession)
        let closing = try store.peer.call("store.reconcile.close", #"{"session":\#(session.number)}"#)
        #expect(closing.isResponse)
        let end = try store.peer.answer(to: session.request)
        #expect(end.isResponse && end.text == #"{"records":340}"#, "\(end.text)")
        #expect(try store.peer.next(session.number, side.initiate()).refusal?.code == .noSuchSession)
      }
    }

    @Test("of two stores gives each what only the other has")
    func twoStores() throws {
      try withRoost(.store) { left in
        try withRoost(.store) { right in
          let (one, two) = (try StoreClient(left), try StoreClient(right))
          let (common, first, second) = (makeEvents(0..<200), makeEvents(0..<60), makeEvents(150..<180))
          _ = try one.peer.answer(to: try one.importRun((common + first).map(\.json)))
          _ = try two.peer.answer(to: try two.importRun((common + second).map(\.json)))
          // What a client does who has one of them: it asks for all it holds, and reconciles that.
          let held = try one.query("{}").map { try Event(json: Array($0.utf8)) }
          let (_, found) = try Session.reconcile(two.peer, "{}", Reconciler(records(held)))
          let up = held.filter { Set(found.haves).contains($0.id) }
          _ = try two.peer.answer(to: try two.importRun(up.map(\.json)))
          let ids = found.needs.map { "\"\($0)\"" }.joined(separator: ",")
          let down = try two.query(#"{"ids":[\#(ids)]}"#).map { Array($0.utf8) }
          _ = try one.peer.answer(to: try one.importRun(down))
          #expect(up.count == 60 && down.count == 30)
          #expect(try one.status().events == 290 && two.status().events == 290)
        }
      }
    }

    @Test("refuses what makes no sense, and goes on after a message that cannot be read")
    func refusals() throws {
      try withRoost(.store) { roost in
        let peer = try roost.client()
        func refusal(_ arguments: String) throws -> Refusal? {
          try peer.call("store.reconcile.open", arguments).refusal
        }
        #expect(try refusal(#"{"filter":{},"message":"6"}"#)?.code == .badRequest)
        #expect(try refusal(#"{"filter":{},"message":"610000"}"#)?.code == .badPayload)
        #expect(try refusal(#"{"filter":{"kinds":"x"},"message":"61"}"#)?.message.hasPrefix("'filter.kinds'") == true)
        #expect(try Session(peer, "{}", [0x77]).answer == [0x61])
        let session = try Session(peer, "{}", [0x61])
        let refused = try peer.next(session.number, [0x61, 0, 0, 9]).refusal
        #expect(refused?.code == .badPayload && refused?.message.contains("mode 9") == true)
        #expect(try session.next([0x61]) == [0x61])
        peer.send(FrameHeader(type: .cancel, re: session.request))
        #expect(try peer.answer(to: session.request).refusal?.code == .cancelled)
        let ended = try peer.next(session.number, [0x61]).refusal
        #expect(ended?.code == .noSuchSession)
      }
    }

    @Test("lets a caller have so many at once, and has room again when one dies")
    func bounds() throws {
      try withRoost(.store) { roost in
        let peer = try roost.client()
        do {
          let (one, two) = (try roost.client(), try roost.client())
          for _ in 0..<ReconcileOpen.callerMaximum { _ = try Session(one, "{}", [0x61]) }
          let refused = try one.call("store.reconcile.open", #"{"filter":{},"message":"61"}"#).refusal
          #expect(refused?.code == .full && refused?.retryAfterMilliseconds != nil)
          for _ in ReconcileOpen.callerMaximum..<ReconcileOpen.sessionMaximum { _ = try Session(two, "{}", [0x61]) }
          #expect(try !peer.opensSession())
        }
        // Their connections are closed. The hub sees that in its next turn or the one after, and cancels what they had
        // open; the store hears of it before it hears of what is asked then.
        var isFull = true
        for _ in 0..<100 where isFull {
          isFull = try !peer.opensSession()
        }
        #expect(!isFull)
      }
    }

    @Test("is ended by a store that stops")
    func draining() throws {
      try withRoost(.store) { roost in
        let peer = try roost.client()
        let session = try Session(peer, "{}", [0x61])
        _ = try peer.call("supervisor.restart", #"{"worker":"event-store"}"#)
        let end = try peer.answer(to: session.request)
        #expect(end.refusal?.code == .unavailable, "\(end.text)")
        #expect(try peer.next(session.number, [0x61]).refusal?.code == .noSuchSession)
      }
    }
  }
}
