import PushDelivery
import PushRequests

extension PushFront {
  /// The refusal of a payload that does not fit into a push of its type. It names the maximum.
  static func tooLarge(_ wake: Wake, as wakeClass: WakeClass, _ settings: PushMessageSettings) -> PushRefusal {
    let count = wake.payload?.count ?? 0
    let maximum = PushMessage.payloadByteCountMaximum(of: wake, as: wakeClass, settings)
    return PushRefusal(
      .invalidPayload,
      "the payload is \(count) bytes, and \(maximum) fit beside what else a push of this type carries: send less, and"
        + " have the phone ask for the rest")
  }
}
