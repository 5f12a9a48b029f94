import Clocks
import RoostConfiguration
import Contracts
import Frames
import MessageHub
import Supervision

extension HubLimits {
  /// The bounds in `[bus]` of `supervisor.conf`.
  init(_ settings: BusSettings) {
    self.init()
    window = Window(frames: UInt64(settings.windowFrames), bytes: UInt64(settings.windowBytes))
    mailboxFrames = settings.mailboxFrames
    mailboxBytes = settings.mailboxBytes
    poolBytes = settings.mailboxPool
    outstandingRequests = settings.outstandingRequests
    deliveriesMaximum = UInt16(clamping: settings.deliveriesMaximum)
    keepsDeadLetters = settings.deadLettersMaximum > 0
    defaultTTLMilliseconds = UInt32(clamping: settings.requestTTL.wholeMilliseconds)
  }
}

extension SpawnBudget {
  /// The rate in `[supervisor]`; ten at least may start at once.
  init(_ settings: SupervisorSettings, now: Instant) {
    self.init(perSecond: settings.spawnRate, burst: max(10, settings.spawnRate), now: now)
  }
}

extension AccessTable.CustomRole {
  /// A `[role.NAME]` of `supervisor.conf`.
  init(_ role: RoleConfiguration) {
    self.init(name: role.name, serves: role.serves, mayCall: role.mayCall, callableBy: role.callableBy)
  }
}
