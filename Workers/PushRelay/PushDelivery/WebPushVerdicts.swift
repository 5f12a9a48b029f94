/// A push service's answers (RFC 8030): a status. Bodies differ from service to service and are not read.
public enum WebPushVerdicts {
  /// How long an endpoint rests after a 429 without a `Retry-After`.
  public static let tokenDelayMilliseconds: UInt64 = 60_000

  /// What an answer means.
  public static func verdict(_ answer: PushAnswer, unixMilliseconds: Int64) -> PushVerdict {
    let wait = answer.wait(unixMilliseconds: unixMilliseconds)
    let reason = PushReason(status: answer.status)
    switch answer.status {
    case 200...299: return .delivered
    // The subscription has ended. An endpoint is made for one subscription, so the time of registration does not
    // matter.
    case 404, 410: return .tokenDead(sinceMilliseconds: nil)
    case 429: return .delayToken(afterMilliseconds: wait ?? tokenDelayMilliseconds)
    // VAPID (RFC 8292) was refused: our key, or our claims.
    case 401, 403: return .providerFault(reason)
    case 408, 425, 500...: return .retry(afterMilliseconds: wait, reason)
    case 400...499: return .messageFault(reason)
    // Redirections are not followed: they could lead into the local network.
    default: return .providerFault(reason)
    }
  }
}
