/// What all connections of a server may hold together of messages that have not come whole.
///
/// A connection's own bound is a message's. Ten thousand that each begin a large one and never end it would be ten
/// thousand times that. A message that comes whole in one read is never counted, so whoever holds back the rest of his
/// takes nothing from those who send short ones.
final class ReceivingBudget {
  /// Bytes held now.
  private(set) var byteCount = 0
  private let byteCountMaximum: Int

  init(byteCountMaximum: Int) { self.byteCountMaximum = byteCountMaximum }

  /// Changes what one connection holds. False when all together hold too much, and this one has more than it had.
  func change(from before: Int, to after: Int) -> Bool {
    byteCount += after - before
    return after <= before || byteCount <= byteCountMaximum
  }
}
