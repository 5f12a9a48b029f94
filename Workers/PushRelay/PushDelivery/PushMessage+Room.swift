extension PushMessage {
  /// The largest payload with which a wake fits, on every platform, in bytes.
  ///
  /// - Parameters:
  ///   - wake: its payload is ignored, all other fields count.
  ///   - wakeClass: its class.
  ///   - settings: the relay's settings.
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
