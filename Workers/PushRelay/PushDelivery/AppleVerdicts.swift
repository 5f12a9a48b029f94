internal import Frames

/// APNs' answers ("Handling notification responses from APNs"): a status, and `{"reason":"…","timestamp":…}`.
public enum AppleVerdicts {
  /// What a reason says by itself, whatever stands beside it. All 32 that Apple documents are here; 429 and 403 have
  /// both been seen for `TooManyProviderTokenUpdates`, so the status is not asked.
  enum Meaning: Hashable {
    case message
    case suspect
    case dead
    case provider
    case credential
    case token
    case trouble
    case again
  }

  /// Each reason Apple documents.
  static let meanings: [String: Meaning] = [
    // 400
    "BadCollapseId": .message, "BadDeviceToken": .suspect, "BadExpirationDate": .message, "BadMessageId": .message,
    "BadPriority": .message, "BadTopic": .provider, "DeviceTokenNotForTopic": .provider,
    "DuplicateHeaders": .message, "IdleTimeout": .again, "InvalidPushType": .message, "MissingDeviceToken": .message,
    "MissingTopic": .provider, "PayloadEmpty": .message, "TopicDisallowed": .provider,
    // 403
    "BadCertificate": .provider, "BadCertificateEnvironment": .provider, "ExpiredProviderToken": .credential,
    "Forbidden": .provider, "InvalidProviderToken": .credential, "MissingProviderToken": .provider,
    "UnrelatedKeyIdInToken": .provider, "BadEnvironmentKeyIdInToken": .provider,
    // 404, 405, 410, 413
    "BadPath": .message, "MethodNotAllowed": .message, "ExpiredToken": .dead, "Unregistered": .dead,
    "PayloadTooLarge": .message,
    // 429, 500, 503
    "TooManyProviderTokenUpdates": .provider, "TooManyRequests": .token, "InternalServerError": .trouble,
    "ServiceUnavailable": .trouble, "Shutdown": .again,
  ]

  /// How long a token rests after `TooManyRequests` without a `Retry-After`.
  public static let tokenDelayMilliseconds: UInt64 = 10_000

  /// What an answer means.
  public static func verdict(_ answer: PushAnswer, unixMilliseconds: Int64) -> PushVerdict {
    if (200...299).contains(answer.status) { return .delivered }
    let wait = answer.wait(unixMilliseconds: unixMilliseconds)
    let json = answer.json
    guard let word = json?["reason"]?.text, let meaning = meanings[word] else {
      return unexplained(answer.status, json?["reason"]?.text.map(PushReason.init(foreign:)), wait)
    }
    let reason = PushReason(foreign: word)
    // A server in trouble is believed that, and nothing else.
    if answer.status >= 500, meaning != .again { return .retry(afterMilliseconds: wait, reason) }
    switch meaning {
    case .message: return .messageFault(reason)
    case .suspect: return .tokenSuspect(reason)
    case .dead: return .tokenDead(sinceMilliseconds: json?["timestamp"]?.wholeNumber)
    case .provider: return .providerFault(reason)
    case .credential: return .renewCredential(reason)
    case .token: return .delayToken(afterMilliseconds: wait ?? tokenDelayMilliseconds)
    case .trouble: return .retry(afterMilliseconds: wait, reason)
    case .again: return .resend
    }
  }

  /// Without a reason that is known the status counts, and no token dies of it: 410 alone says not since when.
  private static func unexplained(_ status: Int, _ word: PushReason?, _ wait: UInt64?) -> PushVerdict {
    let reason = word ?? PushReason(status: status)
    switch status {
    case 410: return .tokenSuspect(reason)
    case 429: return .delayToken(afterMilliseconds: wait ?? tokenDelayMilliseconds)
    case 401, 403: return .providerFault(reason)
    case 400...499: return .messageFault(reason)
    case 500...: return .retry(afterMilliseconds: wait, reason)
    default: return .providerFault(reason)
    }
  }
}
