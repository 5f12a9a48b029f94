import Contracts
import Cryptography
import Frames
import Nostr
import TestSupport
import Testing

extension Layout {
  /// A real event-store.
  static var store: Layout {
    Layout(workers: [
      Worker(
        name: "event-store",
        keys: [
          "role": "\"event-store\"", "program": "\"\(SpawnedProcess.builtProgram("event-store"))\"",
          "sandbox": "\"try\"", "stable-after": "\"100ms\"",
        ])
    ])
  }
}

/// What an event-store is asked, in the words of the contract.
struct StoreClient {
  let peer: BusPeer

  init(_ roost: RunningRoost) throws { peer = try roost.client() }

  func publish(_ event: Event) throws -> BusPeer.Answer {
    try peer.call("store.publish", String(decoding: event.json, as: UTF8.self))
  }

  func query(_ filter: String) throws -> [String] {
    let answer = try peer.call("store.query", #"{"filters":[\#(filter)]}"#)
    #expect(answer.isResponse, "\(answer.text)")
    return answer.parts.map(\.text)
  }

  /// Sends a run; its id.
  func importRun(_ events: [[UInt8]]) throws -> UInt64 {
    var run: [UInt8] = []
    for event in events { IngestRecord.append(.event, receivedNanoseconds: 0, event, to: &run) }
    return try sendRun(run)
  }

  func sendRun(_ run: [UInt8]) throws -> UInt64 {
    let header = try peer.request("store.import", flags: .raw)
    try peer.wait("credit") { peer.hasCredit }
    peer.spend(run.count)
    peer.send(header, run)
    return header.id
  }

  func status() throws -> StoreStatus {
    try JSONPayload.decode(StoreStatus.self, from: try peer.call("store.status").terminal.payload)
  }

  func observe(_ filter: String, after seq: Int64? = nil) throws -> UInt64 {
    try peer.ask("store.observe", #"{"filters":[\#(filter)]\#(seq.map { ",\"afterSeq\":\($0)" } ?? "")}"#)
  }
}

/// Events of one author, one a second, each with the tag t=x.
func makeEvents(_ numbers: Range<Int>, kind: UInt16 = 1, since: Int64 = 1_700_000_000) -> [Event] {
  let author = SecretKey.generate()
  return numbers.map {
    UnsignedEvent(
      pubkey: author.publicKey, createdAt: since + Int64($0), kind: kind, tags: [["t", "x"]], content: "\($0)"
    ).signed(by: author)
  }
}
