internal import Clocks
internal import Cryptography
internal import Nostr

// EVENT and its OK.

extension ClientSession {
  mutating func receivedEvent(
    _ range: Range<Int>, in bytes: UnsafeRawBufferPointer, _ environment: ClientEnvironment, at now: Instant
  ) -> [ClientAction] {
    let text = UnsafeRawBufferPointer(rebasing: bytes[range])
    let event: ScannedEvent
    do throws(EventFault) { event = try ScannedEvent(text) } catch { return unreadable(text, error) }
    if let (reason, isOfUse) = objection(to: event, in: text, environment, at: now) {
      refusedCount += 1
      let answer = ok(event.id, false, reason)
      return isOfUse ? challenged() + [answer] : [answer]
    }
    let work = begin()
    events[work] = WaitingEvent(id: event.id, author: event.pubkey, byteCount: text.count)
    waitingByteCount += text.count
    var actions: [ClientAction] = [.take(work, event: range, destination(by: event.pubkey, environment))]
    if !isPaused, isFull {
      isPaused = true
      actions.append(.pauseReading)
    }
    return actions
  }

  private func destination(by author: PublicKey, _ environment: ClientEnvironment) -> EventDestination {
    if isPeer { return .shared(isOwn: environment.accounts.contains(author)) }
    return environment.accounts.contains(author) || !shown.isDisjoint(with: environment.accounts) ? .world : .store
  }

  /// The destination of an event that waits, by what is known now: its author may have become an account since. Nil
  /// when the event no longer waits.
  public func destination(of work: ClientWork, _ environment: ClientEnvironment) -> EventDestination? {
    events[work].map { destination(by: $0.author, environment) }
  }

  /// Refuses what cannot be read as an event, under its id if at least that can be read.
  private mutating func unreadable(_ text: UnsafeRawBufferPointer, _ fault: EventFault) -> [ClientAction] {
    refusedCount += 1
    let reason = RelayReason("invalid: \(fault)")
    do throws(EventGlanceFault) { return counted([ok(try EventGlance(text).id, false, reason)]) } catch {
      return self.fault(reason.text)
    }
  }

  /// Why an event is refused, and whether an authentication would help; nil when it may be accepted.
  private mutating func objection(
    to event: ScannedEvent, in text: UnsafeRawBufferPointer, _ environment: ClientEnvironment, at now: Instant
  ) -> (RelayReason, isOfUse: Bool)? {
    if let refusal = refusal(environment) { return (refusal, true) }
    guard mayAddEvent(at: now) else {
      return (RelayReason("rate-limited: at most \(limits.eventsPerSecond) events a second are taken"), false)
    }
    guard text.count <= limits.eventByteCountMaximum else {
      let most = "the event has \(text.count) bytes; at most \(limits.eventByteCountMaximum) are taken"
      return (RelayReason("invalid: \(most)"), false)
    }
    guard event.kind != EventKind.relayAuthentication else {
      return (RelayReason("invalid: an event of kind 22242 is sent by AUTH, and is for one relay (NIP-42)"), false)
    }
    if event.isProtected(in: text), !shown.contains(event.pubkey) {
      let why = "this event is protected: only its author may publish it, after authentication (NIP-70)"
      return (RelayReason(shown.isEmpty ? "auth-required: \(why)" : "restricted: \(why)"), true)
    }
    if event.kind == EventKind.repost || event.kind == EventKind.genericRepost, Self.embedsProtected(text) {
      return (RelayReason("blocked: it carries a protected event, which only its author may publish (NIP-70)"), false)
    }
    return nil
  }

  /// False for what is not a complete event: the verification will find that.
  private static func embedsProtected(_ text: UnsafeRawBufferPointer) -> Bool {
    do throws(EventFault) { return try Event(json: Array(text)).embedsProtected } catch { return false }
  }

  private var isFull: Bool {
    events.count >= limits.waitingEventMaximum || waitingByteCount >= limits.waitingEventByteCountMaximum
  }

  /// The outcome of an event is known.
  public mutating func settled(_ work: ClientWork, _ outcome: EventOutcome) -> [ClientAction] {
    guard let event = events.removeValue(forKey: work) else { return [] }
    waitingByteCount -= event.byteCount
    if isOver { return [] }
    let (isAccepted, text) = Self.answer(to: outcome)
    if isAccepted { takenCount += 1 } else { refusedCount += 1 }
    var actions = [ok(event.id, isAccepted, RelayReason(text))]
    // Only when half of the room is free, so that reading does not stop and start with each event.
    if isPaused, events.count <= limits.waitingEventMaximum / 2,
      waitingByteCount <= limits.waitingEventByteCountMaximum / 2
    {
      isPaused = false
      actions.append(.resumeReading)
    }
    return actions
  }

  private static func answer(to outcome: EventOutcome) -> (isAccepted: Bool, String) {
    switch outcome {
    case .taken(let note): (true, note)
    case .duplicate: (true, "duplicate: the event is here already")
    case .superseded: (false, "duplicate: a newer version of the event is here")
    case .deleted: (false, "blocked: its author has deleted it")
    case .expired: (false, "invalid: its time is over (NIP-40)")
    case .invalid(let why): (false, "invalid: \(why)")
    case .failed(let why): (false, "error: \(why)")
    }
  }

  func ok(_ id: EventID, _ isAccepted: Bool, _ reason: RelayReason) -> ClientAction {
    .send(RelayMessage.writeOK(id: id, isAccepted: isAccepted, reason: reason))
  }
}
