import Clocks
import Glibc
import Nostr
import TestSupport
import Testing

@testable import ListEditing

@Suite("Two devices that write one list")
struct TwoDevicesTests {
  /// A thousand in one run when seeds are drawn (`make soak`): an edit takes some 20 ms when it is built for debugging.
  private static let editCount = getenv("ROOST_SEEDS") == nil ? 250 : 1_000

  /// `lying`: relays answer the other device with older lists than they have, or with none.
  ///
  /// At the end exactly what was added and not removed is in the list, and that list is the newest one at the relays.
  private func run(
    _ shape: TwoDevices.Shape, _ seed: UInt64, lying: Bool = false, starting count: Int = 12, edits: Int
  ) throws {
    var world = try TwoDevices(shape, seed: seed, areRelaysLying: lying, startingWith: count)
    try world.run(edits: edits)
    let found = Set(world.entries(try #require(world.history.current?.contents)))
    #expect(lying || world.unclear.isEmpty)
    #expect(
      found.subtracting(world.unclear) == world.expected.subtracting(world.unclear),
      "missing \(world.expected.subtracting(found).sorted()), too much \(found.subtracting(world.expected).sorted())")
    let newest = world.relays.compactMap(\.newest).max { ($0.createdAt, $1.id) < ($1.createdAt, $0.id) }
    #expect(newest?.id == world.history.current?.id && world.waiting.isEmpty)
    // Among a few edits there may be none that the other device made without ours.
    #expect(!world.history.isUndecided && (edits < Self.editCount || world.mergeCount > 0))
  }

  @Test("lose nothing in hundreds of edits, and bring nothing back", arguments: seeds(1), TwoDevices.Shape.allCases)
  func exact(seed: UInt64, shape: TwoDevices.Shape) throws { try run(shape, seed, edits: Self.editCount) }

  @Test(
    "lose nothing when relays answer with older lists, or with none", arguments: seeds(1), TwoDevices.Shape.allCases)
  func lying(seed: UInt64, shape: TwoDevices.Shape) throws { try run(shape, seed, lying: true, edits: Self.editCount) }

  @Test("lose nothing of a list of 221 KB, or of 14,000 follows", arguments: [3_100, 14_000])
  func large(count: Int) throws {
    try run(.follows, 1, starting: count, edits: 16)
    try run(.follows, 2, lying: true, starting: count, edits: 16)
  }
}
