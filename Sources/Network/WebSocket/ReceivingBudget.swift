/// How much all connections of a server together may hold of incomplete messages.
///
/// The bound of one connection is one message. Ten thousand connections that each begin a large message and never end
/// it would hold ten thousand times that. A message that arrives complete in one read is never counted, so a client
/// that holds back the rest of its message takes nothing from clients that send short ones.
final class ReceivingBudget {
  /// The bytes held at present.
  private(set) var byteCount = 0
  private let byteCountMaximum: Int

  init(byteCountMaximum: Int) { self.byteCountMaximum = byteCountMaximum }

  /// Changes what one connection holds. False if all together hold too much, and this one has more than before.
  func change(from before: Int, to after: Int) -> Bool {
    byteCount += after - before
    return after <= before || byteCount <= byteCountMaximum
  }
}
