import Frames
import Testing

@testable import MessageHub

extension HubBench {
  /// Credit of the seat's present connection that the hub holds.
  func heldCredit(of seat: Int) -> Credit { hub.heldCredit(of: seat) }

  /// Every count the hub keeps against what it counts.
  func checkAccounts(_ comment: Comment? = nil) {
    let found = hub.discrepancies()
    #expect(found.isEmpty, comment)
  }

  /// Nothing is under way: every account stands at zero.
  func expectNothingLeft(_ comment: Comment? = nil) {
    let found = hub.leftovers()
    #expect(found.isEmpty, comment)
  }
}
