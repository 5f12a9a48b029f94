import Clocks
import PushDelivery
import Testing

@Suite("Suspect tokens")
struct SuspectTokenTests {
  private var suspects = SuspectTokens()

  private mutating func went(_ device: PushDevice, _ at: UInt64) -> [Int64] {
    suspects.wentThrough(device, at: moment(at).instant).map(\.number)
  }

  private mutating func refused(_ numbers: ClosedRange<Int64>) -> [SuspectTokens.Refusal] {
    numbers.map { suspects.refused(device($0, of: UInt8($0 % 250)), at: moment(UInt64($0)).instant) }
  }

  @Test(
    "43: when tokens are refused that were good, somebody is told once and nobody is pruned, at no later time either")
  mutating func everyKnown() {
    for number in 1...10 as ClosedRange<Int64> { #expect(went(device(number), 0).isEmpty) }
    let told = refused(1...10)
    #expect(told.map(\.isNews) == [false, false, false, false, true, false, false, false, false, false])
    #expect(told.allSatisfy(\.isKnown) && suspects.standing == .everyKnown)
    #expect(went(device(99), 2_000).isEmpty && suspects.standing == .sound)
  }

  @Test("43: tokens that are made up hold nobody, and save none of those that are refused with them from nothing")
  mutating func madeUp() {
    #expect(went(device(2_000), 0).isEmpty)
    let told = refused(1...1_000)
    #expect(!told.contains { $0.isNews || $0.isKnown } && suspects.standing == .sound)
    #expect(went(device(2_000), 2_000).isEmpty, "of many in a row none is condemned")
    // A device that has another token by now has shown nothing with it.
    for number in 1...10 as ClosedRange<Int64> { _ = went(device(number), 2_000) }
    let moved = (1...10 as ClosedRange<Int64>).map { number in
      var device = device(number)
      device.token = token(.ios, number + 100)
      return suspects.refused(device, at: moment(3_000).instant)
    }
    #expect(!moved.contains { $0.isKnown || $0.standing != .sound })
  }

  @Test("43: at the beginning, when nothing goes through, five tokens are believed")
  mutating func beginning() {
    let few = refused(1...100)
    #expect(few.map(\.standing).first == .sound && few.filter(\.isNews).map(\.standing) == [.everyNew])
    #expect(few[4].isNews && suspects.standing == .everyNew && !few.contains(where: \.isKnown))
    #expect(went(device(201), 1_000).isEmpty && suspects.standing == .sound)
    #expect(refused(1...200).allSatisfy { $0.standing == .sound }, "once something has gone through they say nothing")
  }

  @Test("43: a token that is refused while others go through is dead")
  mutating func between() {
    _ = went(device(1), 0)
    _ = suspects.refused(device(2), at: moment(10).instant)
    #expect(went(device(1), 20) == [2])
    // It went through itself meanwhile.
    _ = suspects.refused(device(3), at: moment(30).instant)
    #expect(went(device(3), 40).isEmpty)
    // It has another token meanwhile.
    _ = suspects.refused(device(4), at: moment(50).instant)
    suspects.forget(4)
    #expect(went(device(1), 60).isEmpty)
  }

  @Test("43: where pushes are few, the third refusal condemns")
  mutating func seldom() {
    let hour: UInt64 = 3_600_000
    for round in 1...3 {
      let at = UInt64(round) * 10 * hour
      _ = suspects.refused(device(2), at: moment(at).instant)
      _ = suspects.refused(device(2), at: moment(at + hour).instant)
      #expect(went(device(1), at + 2 * hour) == (round == 3 ? [2] : []))
    }
  }
}
