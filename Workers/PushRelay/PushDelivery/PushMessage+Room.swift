extension PushMessage {
  /// Most bytes of a payload with which a wake fits, whatever the platform.
  ///
  /// - Parameters:
  ///   - wake: with a payload or without; of all else what it has counts.
  ///   - wakeClass: how it is brought.
  ///   - settings: the relay's.
  public static func payloadByteCountMaximum(
    of wake: Wake, as wakeClass: WakeClass, _ settings: PushMessageSettings
  ) -> Int {
    var (fitting, tooMany) = (0, Wake.payloadByteCountMaximum + 1)
    while tooMany - fitting > 1 {
      let count = (fitting + tooMany) / 2
      if fits(wake.carrying(byteCount: count), as: wakeClass, settings) { fitting = count } else { tooMany = count }
    }
    return fitting
  }
}

extension Wake {
  fileprivate func carrying(byteCount: Int) -> Wake {
    Wake(
      id: id, recipient: recipient, sender: sender, type: type, payload: Array(repeating: 0, count: byteCount),
      nonce: nonce, acceptedAt: acceptedAt, expiresAt: expiresAt)
  }
}
