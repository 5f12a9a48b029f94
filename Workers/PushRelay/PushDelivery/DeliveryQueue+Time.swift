internal import Clocks

// What comes with time.

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

  /// A wake's time is over: it ends for all devices but those it is under way to, whose result is waited for.
  mutating func expire(_ number: Int64) {
    guard let entry = entries[number] else { return }
    for device in entry.open where lines[device]?.inFlight?.wake != number {
      if let platform = lines[device]?.device.token.platform { expiredCounts[platform, default: 0] += 1 }
      end(number, device) { $0.isExpired = true }
      // Nothing was waited for but that, perhaps.
      if let line = lines[device], line.due == nil || line.wakes.isEmpty { settleLine(device) }
    }
  }

  /// A line that lost its first wake: another is ready, or the line is forgotten, unless the device has to rest.
  private mutating func settleLine(_ device: Int64) {
    guard let line = lines[device], line.inFlight == nil else { return }
    if line.wakes.isEmpty, line.due != nil, lines.count <= limits.delayedDeviceMaximum { return }
    if line.wakes.isEmpty { lines[device] = nil } else { lineUp(device) }
  }

  /// Wakes that have ended leave the ends of their time behind; those must not gather.
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
