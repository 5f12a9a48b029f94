internal import Frames

/// APNs' answers ("Handling notification responses from APNs"): a status, and `{"reason":"…","timestamp":…}`.
public enum AppleVerdicts {
  /// The meaning of a reason, whatever the status is. All 32 reasons that Apple documents are here;
  /// `TooManyProviderTokenUpdates` has been seen with both 429 and 403, so the status is ignored.
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

  /// The meanings of the reasons that Apple documents.
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
    // When a server reports trouble of its own, only that counts.
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

  /// Without a known reason the status counts, and no token is removed for it: a status of 410 alone does not say since
  /// when.
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
