import PushAdmission
import PushDelivery
import PushLedger
import PushRequests

// Translates the ledger's answers into replies to requests, and requests into the ledger's terms.

extension PushFront {
  /// Executes a command, and returns the reply.
  func finish(_ command: PushWrite) async throws(PushRefusal) -> FrontReply {
    guard let answer = await backend.perform(command) else { throw .unavailable(retryAfterSeconds: 5) }
    switch answer {
    case .registered(let registration):
      let body =
        registration.isVerified
        ? PushReply.registered(relayID: registration.relayID, expiresAt: registration.expiresAt)
        : PushReply.challenged(relayID: registration.relayID, expiresAt: registration.expiresAt)
      return FrontReply(body)
    case .superseded, .stale:
      throw PushRefusal(
        .staleRequest,
        "a request of yours with a later timestamp was answered before this one, and counts: sign this one again if "
          + "it is meant")
    case .unregistered: return FrontReply(PushReply.unregistered)
    case .queued(let id): return FrontReply(PushReply.queued(wakeID: id))
    case .recipientNotFound: throw .recipientNotFound
    case .limited(let seconds, let isOwnLimit):
      throw .rateLimited((isOwnLimit ? .senderHour : AdmissionScope.recipient).things, retryAfterSeconds: seconds)
    case .nonceReused:
      throw PushRefusal(.nonceReused, "this nonce was used for another request: make another one for each")
    case .tooManyKeys: throw Self.tooManyNostrKeys
    case .tooManyContacts: throw PushRefusal(.invalidRequest, "the lists have more keys than are kept")
    case .challengeFailed:
      throw PushRefusal(
        .wrongChallenge,
        "'challenge' is not the code that came by push for this 'token' and 'device_id', or too old; nothing was "
          + "changed: register without it, and another one is sent")
    case .unavailable: throw .unavailable(retryAfterSeconds: 60)
    case .contactsKept, .rulesKept, .noted, .pruned, .swept, .forgotten, .rekeyed, .done:
      return FrontReply(PushReply.health)
    }
  }

  /// Which senders may wake an owner, in the form that the owner reads.
  func book(of owner: PushOwner) async throws(PushRefusal) -> ContactRules {
    guard let kept = await backend.contacts(of: owner) else { throw .unavailable(retryAfterSeconds: 5) }
    func keys(_ kind: ContactKind) -> [PushOwner] { kept.contacts.filter { $0.value == kind }.map(\.key) }
    return ContactRules(
      allowed: keys(.allowed), blocked: keys(.blocked),
      policy: kept.policy.flatMap(AdmissionPolicy.init) ?? rules.admission)
  }
}

extension AdmissionScope {
  /// What there are too many of, as the end of "too many". A recipient's limits are never named, not even to senders
  /// that may know of them.
  var things: String {
    switch self {
    case .global: "requests to this relay, of all together"
    case .address: "requests from your address, which others may share"
    case .senderMinute, .senderHour: "wakes by your key"
    case .pair, .strangers, .recipient: "requests"
    case .registrations: "registrations by your key"
    case .addressRegistrations: "registrations from your address, which others may share"
    case .changes: "changes of lists and rules by your key"
    case .addressChanges: "changes of lists and rules from your address, which others may share"
    }
  }
}

extension AdmissionVerdict {
  var limit: WakeLimit {
    switch self {
    case .admitted: .within
    case .limited(let seconds, let scope):
      switch scope {
      case .pair, .strangers, .recipient: .ofRecipient(retryAfterSeconds: seconds)
      default: .ofSender(retryAfterSeconds: seconds)
      }
    case .dropped(_, let seconds): .ofRecipient(retryAfterSeconds: seconds)
    }
  }
}

extension DeviceSelection {
  var choice: DeviceChoice {
    switch self {
    case .device(let id): .device(id)
    case .relay(let id): .relay(id)
    case .unnamed: .unnamed
    }
  }
}

extension ContactRules {
  var kinds: [PushOwner: ContactKind] {
    var kinds: [PushOwner: ContactKind] = [:]
    for owner in allowed { kinds[owner] = .allowed }
    for owner in blocked { kinds[owner] = .blocked }
    return kinds
  }
}
