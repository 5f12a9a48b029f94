import Clocks
import Nostr
import Reconciliation
import TestSupport
import Testing

@Suite("The asking side of a reconciliation")
struct AskingSideTests {
  @Test("knows at the end what both sides have, in batches of any size", arguments: seeds(20))
  func common(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let sets = TwoSets(&random)
    let there = Reconciler(sets.there, messageByteMaximum: Reconciler.messageByteMinimum)
    let here = Reconciler(sets.here, messageByteMaximum: Reconciler.messageByteMinimum)
    var side = AskingSide(here)
    var message: [UInt8]? = here.initiate()
    while let sent = message { message = try side.received(try there.answer(to: sent)).next }
    #expect(side.isOver)
    #expect(side.absentCount == sets.left.count && side.commonCount == sets.common.count)
    let size = Int.random(in: 1...300, using: &random)
    var (ids, start): ([EventID], Int?) = ([], 0)
    while let next = start {
      let batch = side.common(from: next, count: size)
      #expect(batch.ids.count == size || batch.next == nil)
      ids += batch.ids
      start = batch.next
    }
    #expect(ids == sets.common.sorted().map(\.id))
  }

  @Test("ends when the other side never comes to an end")
  func endless() throws {
    var random = SeededGenerator(seed: 7)
    let records = ReconcileRecords((0..<2).map { _ in .random(seconds: 9, &random) })
    var side = AskingSide(Reconciler(records))
    // A fingerprint of everything that never agrees: this side lists all it has, again and again.
    let message: [UInt8] = [0x61, 0, 0, 1] + [UInt8](repeating: 7, count: 16)
    for _ in 0..<AskingSide.messageMaximum { #expect(try side.received(message).next != nil) }
    #expect(throws: ReconcileFault.endless(messageCount: AskingSide.messageMaximum + 1)) { try side.received(message) }
    #expect(!side.isOver)
  }
}
