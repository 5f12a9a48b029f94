internal import Clocks

// Timers and expiry.

extension DeliveryQueue {
  mutating func fireReminders(at instant: Instant) {
    carriers.forgetEnded(at: instant)
    while let (_, reminder) = reminders.popDue(at: instant) {
      switch reminder {
      case .expiry(let wake): if let entry = entries[wake], entry.expiry <= instant { expire(wake) }
      case .line(let device):
        guard let due = lines[device]?.due, due <= instant else { continue }
        lines[device]?.due = nil
        lineUp(device)
      case .lane(let provider):
        enlist(provider, at: instant)
        forgetIfIdle(provider)
      }
    }
  }

  /// A wake has expired: it ends for all devices except those with a push in flight, whose results are awaited.
  mutating func expire(_ number: Int64) {
    guard let entry = entries[number] else { return }
    for device in entry.open where lines[device]?.inFlight?.wake != number {
      if let platform = lines[device]?.device.token.platform { expiredCounts[platform, default: 0] += 1 }
      end(number, device) { $0.isExpired = true }
      // Perhaps the device waited only for this wake.
      if let line = lines[device], line.due == nil || line.wakes.isEmpty { settleLine(device) }
    }
  }

  /// A device's queue has lost its first wake: the next one is ready, or the queue is forgotten, unless the device must
  /// not receive a push for a while.
  private mutating func settleLine(_ device: Int64) {
    guard let line = lines[device], line.inFlight == nil else { return }
    if line.wakes.isEmpty, line.due != nil, lines.count <= limits.delayedDeviceMaximum { return }
    if line.wakes.isEmpty { lines[device] = nil } else { lineUp(device) }
  }

  /// Removes void reminders. Wakes that have ended leave their expiry reminders behind, and these must not accumulate.
  mutating func dropVoidReminders() {
    reminders.removeVoid { [entries, lines, lanes] at, reminder in
      switch reminder {
      case .expiry(let wake): entries[wake]?.expiry == at
      case .line(let device): lines[device]?.due == at
      case .lane(let provider): lanes[provider]?.breaker.reopening == at
      }
    }
  }
}
