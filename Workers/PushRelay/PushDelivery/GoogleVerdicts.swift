internal import Frames

/// FCM v1's answers: a status, and Google's error envelope
///
///     {"error":{"code":404,"status":"NOT_FOUND","message":"…","details":[
///       {"@type":"type.googleapis.com/google.firebase.fcm.v1.FcmError","errorCode":"UNREGISTERED"},
///       {"@type":"type.googleapis.com/google.rpc.BadRequest","fieldViolations":[{"field":"message.token",…}]}]}}
///
/// The status alone is misleading: 404 can mean a token that is gone, and also a misspelt project; 400 can mean an
/// invalid token, and also an invalid message. Only `details` distinguish them.
public enum GoogleVerdicts {
  /// How long pushes to FCM pause after a 429 without a `Retry-After`.
  public static let throttleMilliseconds: UInt64 = 60_000

  /// What an answer means.
  public static func verdict(_ answer: PushAnswer, unixMilliseconds: Int64) -> PushVerdict {
    if (200...299).contains(answer.status) { return .delivered }
    let wait = answer.wait(unixMilliseconds: unixMilliseconds)
    let error = answer.json?["error"]
    let details = error?["details"]?.items.prefix(detailCountMaximum) ?? []
    let code = details.lazy.compactMap { isOf("FcmError", $0) ? $0["errorCode"]?.text : nil }.first
    let reason =
      (code ?? error?["status"]?.text).map(PushReason.init(foreign:)) ?? PushReason(status: answer.status)
    switch answer.status {
    case 400: return invalidArgument(Array(details), code, reason)
    case 401: return code == "THIRD_PARTY_AUTH_ERROR" ? .providerFault(reason) : .renewCredential(reason)
    // For one token: it belongs to another project. For all tokens: our project is wrong.
    case 403: return code == "SENDER_ID_MISMATCH" ? .tokenSuspect(reason) : .providerFault(reason)
    case 404: return code == "UNREGISTERED" ? .tokenDead(sinceMilliseconds: nil) : .providerFault(reason)
    case 429: return .throttled(afterMilliseconds: wait ?? throttleMilliseconds)
    case 408, 500...: return .retry(afterMilliseconds: wait, reason)
    case 400...499: return .messageFault(reason)
    default: return .providerFault(reason)
    }
  }

  /// The maximum number of details that are read.
  private static let detailCountMaximum = 16

  private static func isOf(_ type: String, _ detail: JSONValue) -> Bool {
    detail["@type"]?.text.map { $0.hasSuffix("." + type) } ?? false
  }

  /// If a field is named, it is wrong: it is our mistake, unless the field is the token. `FcmError` alone means the
  /// token.
  private static func invalidArgument(
    _ details: [JSONValue], _ code: String?, _ reason: PushReason
  ) -> PushVerdict {
    let fields = details.filter { isOf("BadRequest", $0) }.flatMap { $0["fieldViolations"]?.items ?? [] }
      .prefix(detailCountMaximum).map { $0["field"]?.text ?? "" }
    if !fields.isEmpty {
      return fields.allSatisfy { $0 == "message.token" } ? .tokenSuspect(reason) : .messageFault(reason)
    }
    if details.contains(where: { isOf("BadRequest", $0) }) { return .messageFault(reason) }
    return code == "INVALID_ARGUMENT" ? .tokenSuspect(reason) : .messageFault(reason)
  }
}
