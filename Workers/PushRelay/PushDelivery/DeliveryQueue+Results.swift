internal import Clocks

// Results of pushes, and their consequences for the device, the wake and the provider.

extension DeliveryQueue {
  /// A push has a result. A result for a push that is not in flight is ignored.
  ///
  /// The caller must also report a verdict `renewCredential` to the credential, with the serial that the push carried.
  public mutating func settled(
    wake: Int64, device number: Int64, _ verdict: PushVerdict, at moment: PushMoment
  ) -> [DeliveryAction] {
    guard let attempt = lines[number]?.inFlight, attempt.wake == wake else { return [] }
    lines[number]?.inFlight = nil
    let provider = attempt.device.token.provider
    lanes[provider]?.inFlightCount -= 1
    shares[provider.platform]?.inFlightCount -= 1
    if attempt.isSlow { shares[provider.platform]?.slowInFlightCount -= 1 }
    settle(attempt, number, verdict, provider, at: moment)
    noteTime(of: attempt, verdict, provider, at: moment.instant)
    if lines[number]?.isRemoved == true { drop(number) }
    // The wake may have expired while this push was in flight.
    if let entry = entries[wake], entry.expiry <= moment.instant { expire(wake) }
    lineUp(number)
    enlist(provider, at: moment.instant)
    forgetIfIdle(provider)
    return finish(at: moment.instant)
  }

  private mutating func settle(
    _ attempt: DeviceQueue.Attempt, _ number: Int64, _ verdict: PushVerdict, _ provider: PushProvider,
    at moment: PushMoment
  ) {
    switch verdict {
    case .delivered:
      wentThrough(attempt.device, provider, at: moment.instant)
      end(attempt.wake, number) { $0.isDelivered = true }
    case .tokenDead:
      answered(provider)
      tokenRefused(attempt, number, isCondemned: verdict.isDead(attempt.device))
    case .tokenSuspect(let reason): suspected(attempt, number, provider, reason, at: moment)
    case .providerFault(let reason):
      let isOurs = reason.isOurs
      let isProved = isOurs ? false : refused(attempt.device, provider, at: moment.instant)
      if isOurs || counts(attempt, number, provider, reason, isProved: isProved) {
        faulty(attempt, provider, reason, at: moment.instant)
      }
      tryAgain(number, atLeast: 0, at: moment.instant)
    case .renewCredential(let reason):
      failed(attempt, provider, reason, atLeast: 0, at: moment.instant)
      tryAgain(number, atLeast: 0, at: moment.instant)
    case .retry(let milliseconds, let reason):
      if reason.isOurs || counts(attempt, number, provider, reason) {
        failed(attempt, provider, reason, atLeast: milliseconds ?? 0, at: moment.instant)
      }
      tryAgain(number, atLeast: milliseconds ?? 0, at: moment.instant)
    case .resend: resend(attempt, number, provider, at: moment.instant)
    case .delayToken(let milliseconds):
      answered(provider)
      delay(number, milliseconds, at: moment.instant)
    case .throttled(let milliseconds):
      if counts(attempt, number, provider, "throttled") {
        failed(attempt, provider, "throttled", atLeast: 0, at: moment.instant)
      }
      delay(number, milliseconds, at: moment.instant)
    case .messageFault(let reason):
      answered(provider)
      actions.append(.alarm(.message(provider, reason)))
      end(attempt.wake, number) { _ in }
    }
  }

  // MARK: The provider

  /// The provider answered, so it works, whatever its answer to this push.
  private mutating func answered(_ provider: PushProvider) { lanes[provider]?.breaker.succeeded() }

  /// Whether a failure counts against the provider. If it does not, and the push was the probe, the probe ends without
  /// a result.
  private mutating func counts(
    _ attempt: DeviceQueue.Attempt, _ number: Int64, _ provider: PushProvider, _ reason: PushReason,
    isProved: Bool = false
  ) -> Bool {
    let isCounted = shares[provider.platform]?.witnesses.counts(attempt.device, reason, isProved: isProved) ?? true
    shares[provider.platform]?.witnesses.failed(number)
    if !isCounted, attempt.isProbe { lanes[provider]?.breaker.probeLost() }
    return isCounted
  }

  /// A device was refused. Returns whether an earlier success of its platform is still believed.
  private mutating func refused(_ device: PushDevice, _ provider: PushProvider, at instant: Instant) -> Bool {
    shares[provider.platform]?.earlierSuccess?.refused(device.owner, at: instant)
    return shares[provider.platform]?.earlierSuccess?.isBelieved(at: instant) ?? false
  }

  private mutating func wentThrough(_ device: PushDevice, _ provider: PushProvider, at instant: Instant) {
    answered(provider)
    shares[provider.platform]?.earlierSuccess = nil
    shares[provider.platform]?.witnesses.wentThrough(device)
    let condemned = shares[provider.platform]?.suspects.wentThrough(device, at: instant) ?? []
    for device in condemned {
      // A device that has another token by now is not condemned.
      if let line = lines[device.number], line.device.token != device.token { continue }
      actions.append(.prune(device))
      drop(device.number)
    }
  }

  /// The provider reports a fault that affects every push. If the fault is not surely ours, and no push has succeeded
  /// there yet, the cause is unknown: then pushes are tried one at a time.
  private mutating func faulty(
    _ attempt: DeviceQueue.Attempt, _ provider: PushProvider, _ reason: PushReason, at instant: Instant
  ) {
    let isNews = lanes[provider]?.breaker.isClosed == true
    if reason.isOurs || shares[provider.platform]?.witnesses.isKnownGood(provider) == true {
      let isOpened = lanes[provider]?.breaker.tripped(isProbe: attempt.isProbe, at: instant, using: &generator)
      if isOpened == true { opened(provider, .fault(provider, reason)) }
    } else if lanes[provider]?.breaker.doubted(isProbe: attempt.isProbe, at: instant, using: &generator) == true {
      opened(provider, isNews ? .fault(provider, reason) : nil)
    }
  }

  private mutating func failed(
    _ attempt: DeviceQueue.Attempt, _ provider: PushProvider, _ reason: PushReason, atLeast milliseconds: UInt64,
    at instant: Instant
  ) {
    let isOpened = lanes[provider]?.breaker.failed(
      isProbe: attempt.isProbe, at: instant, atLeast: milliseconds, using: &generator)
    if isOpened == true { opened(provider, .trouble(provider, reason)) }
  }

  private mutating func opened(_ provider: PushProvider, _ alarm: PushAlarm?) {
    if let alarm { actions.append(.alarm(alarm)) }
    if let reopening = lanes[provider]?.breaker.reopening {
      reminders.add(.lane(provider), at: reopening)
    }
  }

  /// Forgets an idle lane, unless its provider is in trouble or slow. Above `laneMaximum` lanes, forgets those too.
  mutating func forgetIfIdle(_ provider: PushProvider) {
    guard let lane = lanes[provider], lane.isIdle else { return }
    if lane.breaker.isAtRest && !lane.isSlow || lanes.count > limits.laneMaximum { lanes[provider] = nil }
  }

  // MARK: The device

  /// The token is permanently invalid. If the device has another token by now, the wake is sent to that one.
  private mutating func tokenRefused(_ attempt: DeviceQueue.Attempt, _ number: Int64, isCondemned: Bool) {
    if let line = lines[number], line.device.token != attempt.device.token { return }
    end(attempt.wake, number) { _ in }
    guard isCondemned else { return }
    actions.append(.prune(attempt.device))
    drop(number)
  }

  private mutating func suspected(
    _ attempt: DeviceQueue.Attempt, _ number: Int64, _ provider: PushProvider, _ reason: PushReason,
    at moment: PushMoment
  ) {
    let platform = provider.platform
    if let line = lines[number], line.device.token != attempt.device.token {
      if attempt.isProbe { lanes[provider]?.breaker.probeLost() }
      return
    }
    shares[platform]?.witnesses.failed(number)
    let isProved = refused(attempt.device, provider, at: moment.instant)
    let judged = shares[platform]?.suspects.refused(attempt.device, at: moment.instant, isProved: isProved)
    guard let refusal = judged else { return }
    switch refusal.standing {
    case .sound: answered(provider)
    case .everyNew, .everyKnown:
      if refusal.isNews { actions.append(.alarm(.everyTokenRefused(provider, reason))) }
      hold(attempt, provider, isKnown: refusal.standing == .everyKnown && refusal.isKnown, at: moment.instant)
    }
    end(attempt.wake, number) { _ in }
  }

  /// Tokens are refused because of a fault of ours. Refused tokens that strangers can register do not lengthen the
  /// pause.
  private mutating func hold(
    _ attempt: DeviceQueue.Attempt, _ provider: PushProvider, isKnown: Bool, at instant: Instant
  ) {
    let isOpened =
      isKnown
      ? lanes[provider]?.breaker.tripped(isProbe: attempt.isProbe, at: instant, using: &generator)
      : lanes[provider]?.breaker.doubted(isProbe: attempt.isProbe, at: instant, using: &generator)
    if isOpened == true { opened(provider, nil) }
  }

  /// Retries the device's first wake after a back-off, unless the wake expires before.
  private mutating func tryAgain(_ number: Int64, atLeast milliseconds: UInt64, at instant: Instant) {
    guard let line = lines[number], !line.wakes.isEmpty else { return }
    let wait = BackOff.wait(
      base: limits.retryBaseMilliseconds, ceiling: limits.retryCeilingMilliseconds,
      failureCount: max(0, line.attemptCount - 1), using: &generator)
    lines[number]?.resendCount = 0
    rest(number, max(wait, milliseconds), at: instant)
  }

  private mutating func resend(
    _ attempt: DeviceQueue.Attempt, _ number: Int64, _ provider: PushProvider, at instant: Instant
  ) {
    lines[number]?.resendCount += 1
    if (lines[number]?.resendCount ?? 0) <= limits.resendMaximum {
      if attempt.isProbe { lanes[provider]?.breaker.probeLost() }
    } else {
      failed(attempt, provider, "not-processed", atLeast: 0, at: instant)
      tryAgain(number, atLeast: 0, at: instant)
    }
  }

  private mutating func delay(_ number: Int64, _ milliseconds: UInt64, at instant: Instant) {
    rest(number, min(max(milliseconds, 1_000), UInt64(RetryAfter.secondsMaximum) * 1_000), at: instant)
  }

  private mutating func rest(_ number: Int64, _ milliseconds: UInt64, at instant: Instant) {
    guard lines[number] != nil else { return }
    let due = instant.advanced(milliseconds: milliseconds)
    lines[number]?.due = due
    reminders.add(.line(number), at: due)
  }

  /// A device was removed, or its token is dead: the wakes that wait for it end for this device.
  mutating func drop(_ number: Int64) {
    guard let line = lines[number] else { return }
    shares[line.device.token.platform]?.suspects.forget(number)
    shares[line.device.token.platform]?.witnesses.forget(number)
    for wake in Array(line.wakes) where wake != line.inFlight?.wake { end(wake, number) { _ in } }
    lines[number]?.due = nil
    lines[number]?.isRemoved = true
    if line.inFlight == nil { lines[number] = nil }
  }

  // MARK: The wake

  /// A wake has ended for one device. If that was its last device, the wake has ended.
  mutating func end(_ number: Int64, _ device: Int64, _ change: (inout Entry) -> Void) {
    lines[device]?.remove(number)
    guard entries[number]?.open.remove(device) != nil, var entry = entries[number] else { return }
    change(&entry)
    entries[number] = entry
    guard entry.open.isEmpty else { return actions.append(.ended(wake: number, device: device)) }
    entries[number] = nil
    for platform in entry.platforms { shares[platform]?.wakeCount -= 1 }
    let outcome: WakeOutcome = entry.isDelivered ? .delivered : entry.isExpired ? .expired : .undeliverable
    if outcome != .delivered {
      carriers.forget(.init(recipient: entry.wake.recipient, type: entry.wake.type), number)
    }
    actions.append(.done(wake: number, outcome))
  }
}
