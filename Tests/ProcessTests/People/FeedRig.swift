import Contracts
import Cryptography
import Frames
import LinuxSystem
import Nostr
import TestSupport
import Testing

/// A `people` worker beside planner, store, signer and a connector; alice is an account.
struct FeedRig {
  let rig: PlannerRig
  let alice = SecretKey.generate()

  static func layout(_ relays: [String]) -> Layout {
    var layout = PlannerRig.layout(relays)
    for index in layout.workers.indices where layout.workers[index].name == "outbox-planner" {
      layout.workers[index].keys["allow-private-relays"] = "true"
      layout.workers[index].keys["indexers"] = "[]"
    }
    layout.workers.append(
      Layout.Worker(
        name: "people",
        keys: [
          "role": "\"people\"", "program": "\"\(SpawnedProcess.builtProgram("people"))\"", "sandbox": "\"try\"",
        ]))
    return layout
  }

  static func run(_ relays: [String] = ["ws://127.0.0.1:1"], _ body: (FeedRig) throws -> Void) throws {
    try withRoost(layout(relays)) { roost in
      let rig = FeedRig(rig: PlannerRig(roost: roost, client: try roost.client()))
      try rig.rig.importAlice(rig.alice)
      try body(rig)
    }
  }

  func event(
    _ author: SecretKey, kind: UInt16 = 1, _ tags: [[String]] = [], _ content: String = "", at time: Int64? = nil
  ) -> Event {
    UnsignedEvent(
      pubkey: author.publicKey, createdAt: time ?? WallClock.seconds, kind: kind, tags: tags, content: content
    ).signed(by: author)
  }

  /// Stores an event; its seq.
  @discardableResult
  func store(_ event: Event) throws -> Int64 {
    let answer = try rig.client.call("store.publish", String(decoding: event.json, as: UTF8.self))
    let result = try JSONPayload.decode(PublishResult.self, from: answer.terminal.payload)
    return try #require(result.seq)
  }

  /// Stores alice's follow list.
  @discardableResult
  func follow(_ people: [SecretKey], at time: Int64) throws -> Int64 {
    try store(event(alice, kind: 3, people.map { ["p", "\($0.publicKey)"] }, at: time))
  }

  func follow(_ method: String, _ arguments: String = #""account":"alice""#) throws -> FeedFollower {
    try FeedFollower(rig.client, method, arguments)
  }
}

/// Reads a feed or an inbox, and continues after its worker has died.
final class FeedFollower {
  /// One event of a feed or an inbox.
  struct Item: Decodable, Equatable {
    let seq: Int64
    let event: JSONValue
    let sort: InboxItem.Sort?
    let author: String?
    let about: String?
    let text: String?
    let amountMillisatoshis: Int64?

    var id: String { if case .string(let id)? = event["id"] { id } else { "" } }
  }

  private let client: BusPeer
  private let method: String
  private let arguments: String
  private var request: UInt64 = 0
  private var takenCount = 0
  private(set) var items: [Item] = []
  private(set) var states: [FeedState] = []
  private(set) var storedEnds: [StoredEnd] = []
  private(set) var resumedCount = 0
  private var lastSeq: Int64?

  init(_ client: BusPeer, _ method: String, _ arguments: String) throws {
    (self.client, self.method, self.arguments) = (client, method, arguments)
    try ask()
  }

  private func ask() throws {
    let after = lastSeq.map { ",\"afterSeq\":\($0)" } ?? ""
    request = try client.ask(method, "{\(arguments)\(after)}")
    takenCount = 0
  }

  /// Takes what has come.
  func take() throws {
    client.receive(withinMilliseconds: 5)
    for part in client.parts(of: request).dropFirst(takenCount) {
      takenCount += 1
      let value = try JSONPayload.decode(JSONValue.self, from: part.payload)
      if value["isFeedState"] != nil {
        states.append(try JSONPayload.decode(FeedState.self, from: part.payload))
      } else if value["isStoredEnd"] != nil {
        let end = try JSONPayload.decode(StoredEnd.self, from: part.payload)
        storedEnds.append(end)
        lastSeq = max(lastSeq ?? 0, end.seq)
      } else {
        let item = try JSONPayload.decode(Item.self, from: part.payload)
        items.append(item)
        // Before the end of the stored ones their seqs say nothing.
        if !storedEnds.isEmpty { lastSeq = max(lastSeq ?? 0, item.seq) }
      }
    }
    guard let answer = client.takeAnswer(to: request) else { return }
    let refusal = try #require(answer.refusal)
    try #require([RefusalCode.workerDied, .unavailable].contains(refusal.code), "\(refusal)")
    resumedCount += 1
    try ask()
  }

  /// Waits until an event has come.
  func await(_ event: Event, _ what: String = "an event") throws {
    try awaitSoon(what) {
      try take()
      return items.contains { $0.id == "\(event.id)" }
    }
  }

  func awaitStored() throws {
    try awaitSoon("the end of the stored events") {
      try take()
      return !storedEnds.isEmpty
    }
  }

  /// Ends it.
  func cancel() { client.send(FrameHeader(type: .cancel, re: request)) }
}
