internal import Clocks
internal import HeapModule

// What comes back, and what follows from it for the device, the wake and the provider.

extension DeliveryBoard {
  /// A push that was sent has a result. Of one that was not sent, or has one already, nothing is believed.
  ///
  /// A verdict `renewCredential` has to be told to the credential as well, with the serial the push carried.
  public mutating func settled(
    wake: Int64, device number: Int64, _ verdict: PushVerdict, at moment: PushMoment
  ) -> [DeliveryAction] {
    guard let attempt = lines[number]?.inFlight, attempt.wake == wake else { return [] }
    lines[number]?.inFlight = nil
    let provider = attempt.device.token.provider
    lanes[provider]?.inFlightCount -= 1
    shares[provider.platform]?.inFlightCount -= 1
    settle(attempt, number, verdict, provider, at: moment)
    if lines[number]?.isRemoved == true { drop(number) }
    // Its time may have ended while nobody knew.
    if let entry = entries[wake], entry.expiry <= moment.instant { expire(wake) }
    lineUp(number)
    enlist(provider, at: moment.instant)
    forgetIfIdle(provider)
    return finish(at: moment.instant)
  }

  private mutating func settle(
    _ attempt: DeviceLine.Attempt, _ number: Int64, _ verdict: PushVerdict, _ provider: PushProvider,
    at moment: PushMoment
  ) {
    switch verdict {
    case .delivered:
      wentThrough(number, provider, at: moment.instant)
      end(attempt.wake, number) { $0.isDelivered = true }
    case .tokenDead:
      answered(provider)
      tokenRefused(attempt, number, isCondemned: verdict.isDead(attempt.device))
    case .tokenSuspect(let reason): suspected(attempt, number, provider, reason, at: moment)
    case .providerFault(let reason):
      let isOpened =
        lanes[provider]?.breaker.tripped(isProbe: attempt.isProbe, at: moment.instant, using: &generator) ?? false
      if isOpened { opened(provider, .fault(provider, reason)) }
      tryAgain(number, atLeast: 0, at: moment.instant)
    case .renewCredential(let reason):
      failed(attempt, provider, reason, atLeast: 0, at: moment.instant)
      tryAgain(number, atLeast: 0, at: moment.instant)
    case .retry(let milliseconds, let reason):
      failed(attempt, provider, reason, atLeast: milliseconds ?? 0, at: moment.instant)
      tryAgain(number, atLeast: milliseconds ?? 0, at: moment.instant)
    case .resend: resend(attempt, number, provider, at: moment.instant)
    case .delayToken(let milliseconds):
      answered(provider)
      delay(number, milliseconds, at: moment)
    case .throttled(let milliseconds):
      failed(attempt, provider, "throttled", atLeast: 0, at: moment.instant)
      delay(number, milliseconds, at: moment)
    case .messageFault(let reason):
      answered(provider)
      actions.append(.alarm(.message(provider, reason)))
      end(attempt.wake, number) { _ in }
    }
  }

  // MARK: The provider

  /// It answers: whatever it says of one push, it works.
  private mutating func answered(_ provider: PushProvider) { lanes[provider]?.breaker.succeeded() }

  private mutating func wentThrough(_ number: Int64, _ provider: PushProvider, at instant: Instant) {
    answered(provider)
    let condemned = shares[provider.platform]?.suspects.wentThrough(number, at: instant) ?? []
    for device in condemned {
      // Who has another token by now is nobody's suspect.
      if let line = lines[device.number], line.device.token != device.token { continue }
      actions.append(.prune(device))
      drop(device.number)
    }
  }

  private mutating func failed(
    _ attempt: DeviceLine.Attempt, _ provider: PushProvider, _ reason: PushReason, atLeast milliseconds: UInt64,
    at instant: Instant
  ) {
    let isOpened = lanes[provider]?.breaker.failed(
      isProbe: attempt.isProbe, at: instant, atLeast: milliseconds, using: &generator)
    if isOpened == true { opened(provider, .trouble(provider, reason)) }
  }

  private mutating func opened(_ provider: PushProvider, _ alarm: PushAlarm) {
    actions.append(.alarm(alarm))
    if let reopening = lanes[provider]?.breaker.reopening {
      reminders.insert(Reminder(at: reopening, cause: .lane(provider)))
    }
  }

  /// A lane without anything in it is forgotten, unless its provider is in trouble; and that too when there are many.
  mutating func forgetIfIdle(_ provider: PushProvider) {
    guard let lane = lanes[provider], lane.isIdle else { return }
    if lane.breaker.isAtRest || lanes.count > limits.laneMaximum { lanes[provider] = nil }
  }

  // MARK: The device

  /// No push reaches it with this token, for good. The wake goes to the next token if there is one by now.
  private mutating func tokenRefused(_ attempt: DeviceLine.Attempt, _ number: Int64, isCondemned: Bool) {
    if let line = lines[number], line.device.token != attempt.device.token { return }
    end(attempt.wake, number) { _ in }
    guard isCondemned else { return }
    actions.append(.prune(attempt.device))
    drop(number)
  }

  private mutating func suspected(
    _ attempt: DeviceLine.Attempt, _ number: Int64, _ provider: PushProvider, _ reason: PushReason,
    at moment: PushMoment
  ) {
    let platform = provider.platform
    if let line = lines[number], line.device.token != attempt.device.token {
      if attempt.isProbe { lanes[provider]?.breaker.probeLost() }
      return
    }
    let wasAll = shares[platform]?.suspects.isEveryTokenRefused ?? false
    let isAll = shares[platform]?.suspects.refused(attempt.device, at: moment.instant) ?? false
    if isAll || wasAll {
      let isOpened =
        lanes[provider]?.breaker.tripped(isProbe: attempt.isProbe, at: moment.instant, using: &generator) ?? false
      if isOpened { opened(provider, .everyTokenRefused(provider, reason)) }
    } else {
      answered(provider)
    }
    end(attempt.wake, number) { _ in }
  }

  /// The first of its wakes is tried again after a wait; if it has expired by then, it is not.
  private mutating func tryAgain(_ number: Int64, atLeast milliseconds: UInt64, at instant: Instant) {
    guard let line = lines[number], !line.wakes.isEmpty else { return }
    let wait = BackOff.milliseconds(
      base: limits.retryBaseMilliseconds, ceiling: limits.retryCeilingMilliseconds,
      failureCount: max(0, line.attemptCount - 1), using: &generator)
    lines[number]?.resendCount = 0
    rest(number, max(wait, milliseconds), at: instant)
  }

  private mutating func resend(
    _ attempt: DeviceLine.Attempt, _ number: Int64, _ provider: PushProvider, at instant: Instant
  ) {
    lines[number]?.resendCount += 1
    if (lines[number]?.resendCount ?? 0) <= limits.resendMaximum {
      if attempt.isProbe { lanes[provider]?.breaker.probeLost() }
    } else {
      failed(attempt, provider, "not-processed", atLeast: 0, at: instant)
      tryAgain(number, atLeast: 0, at: instant)
    }
  }

  private mutating func delay(_ number: Int64, _ milliseconds: UInt64, at moment: PushMoment) {
    let bounded = min(max(milliseconds, 1_000), UInt64(RetryAfter.secondsMaximum) * 1_000)
    actions.append(
      .delayToken(device: number, untilMilliseconds: moment.unixMilliseconds + Int64(bounded)))
    rest(number, bounded, at: moment.instant)
  }

  private mutating func rest(_ number: Int64, _ milliseconds: UInt64, at instant: Instant) {
    guard lines[number] != nil else { return }
    let due = instant.advanced(milliseconds: milliseconds)
    lines[number]?.due = due
    reminders.insert(Reminder(at: due, cause: .line(number)))
  }

  /// A device is none any more, or its token: nothing that waits for it reaches it.
  mutating func drop(_ number: Int64) {
    guard let line = lines[number] else { return }
    shares[line.device.token.platform]?.suspects.forget(number)
    for wake in Array(line.wakes) where wake != line.inFlight?.wake { end(wake, number) { _ in } }
    lines[number]?.due = nil
    lines[number]?.isRemoved = true
    if line.inFlight == nil { lines[number] = nil }
  }

  // MARK: The wake

  /// A wake has ended for one device.
  mutating func end(_ number: Int64, _ device: Int64, _ change: (inout Entry) -> Void) {
    lines[device]?.remove(number)
    guard entries[number]?.open.remove(device) != nil, var entry = entries[number] else { return }
    change(&entry)
    entries[number] = entry
    guard entry.open.isEmpty else { return }
    entries[number] = nil
    for platform in entry.platforms { shares[platform]?.wakeCount -= 1 }
    let outcome: WakeOutcome = entry.isDelivered ? .delivered : entry.isExpired ? .expired : .undeliverable
    if outcome != .delivered {
      carriers.forget(.init(recipient: entry.wake.recipient, type: entry.wake.type), number)
    }
    actions.append(.done(wake: number, outcome))
  }
}
