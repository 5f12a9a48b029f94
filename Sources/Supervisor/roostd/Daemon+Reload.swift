import RoostConfiguration
import Contracts
import EventLoop
import Frames
import Logs
import MessageHub
import Recordings
import Supervision

// What `roost reload` and SIGHUP change in a running supervisor.

extension Daemon {
  /// Takes over a new configuration; the caller has looked at the changes.
  func adopt(_ new: SupervisorConfiguration, _ changes: [ConfigurationChange]) throws {
    let old = configuration
    configuration = new
    // What needs a restart of roostd stays as it is, so that the next reload tells of it again.
    configuration.supervisor.stateDirectory = old.supervisor.stateDirectory
    configuration.supervisor.runDirectory = old.supervisor.runDirectory
    configuration.supervisor.logDirectory = old.supervisor.logDirectory
    configuration.supervisor.socket = old.supervisor.socket
    configuration.bus.frameLimit = old.bus.frameLimit
    configuration.bus.windowFrames = old.bus.windowFrames
    configuration.bus.windowBytes = old.bus.windowBytes
    adoptBounds()
    if new.supervisor.admittedUids != old.supervisor.admittedUids {
      socket.admitListedUsers()
      admission.cutUnlistedUsers()
    }
    // Levels set while running stay, unless the file says something new about logs.
    if changes.contains(where: { $0.subject == .table("log") && $0.kind != .unchanged }) {
      logs.apply(
        WorkerLogSettings(new.log, directory: old.supervisor.logDirectory), levels: LogFilter(new.log))
    }
    shell.change { hub, _, _ in hub.adopt(customRoles: new.roles.map(AccessTable.CustomRole.init)) }
    for change in changes {
      guard case .worker(let name) = change.subject else { continue }
      switch change.kind {
      case .unchanged: break
      case .added: try place(name)
      case .removed: remove(name)
      case .changed(let effect): apply(effect, to: name, new)
      }
    }
    broadcastSettings()
    tellDependents()
    registry.changed()
  }

  /// Bounds of the hub, spawning and dead letters, from the configuration in force.
  private func adoptBounds() {
    let limits = HubLimits(configuration.bus)
    shell.change { hub, _, _ in hub.adopt(limits: limits) }
    spawnBudget = SpawnBudget(configuration.supervisor, now: EventLoop.process.now)
    deadLetters.store.countMaximum = configuration.bus.deadLettersMaximum
  }

  private func apply(_ effect: SettingEffect, to name: String, _ new: SupervisorConfiguration) {
    guard let worker = worker(named: name), !worker.isLeaving, let settings = new.worker(named: name) else { return }
    guard settings.role == worker.role.name else {
      // Seat and role are one for life: it goes, and another comes in its place.
      remove(name)
      return
    }
    let wasEnabled = worker.configuration.enabled
    let rest = rest(of: worker)
    worker.adopt(settings)
    if settings.enabled && !wasEnabled { worker.receive(.startRequested) }
    if !settings.enabled && wasEnabled { worker.receive(.stopRequested(drain: nil)) }
    guard settings.enabled, wasEnabled else { return }
    // Whatever it was that changed, it may be what was mended.
    if rest == .failed || effect == .restartsWorker && worker.isRunning { worker.receive(.restartRequested) }
  }

  /// The state of a worker that does not run, for what a change of its settings does; nil while it runs or is about to.
  func rest(of worker: ManagedWorker) -> ConfigurationChange.Rest? {
    switch worker.machine.state.kind {
    case .failed, .backoff, .execFailed: .failed
    case .stopped, .held, .exited, .attached: .parked
    case .waiting, .starting, .ready, .draining, .stopping: nil
    }
  }

  /// What a reload does, a paragraph a part; of a worker that does not run, what becomes of it.
  ///
  /// - Parameter new: the configuration that would be in force.
  func texts(of changes: [ConfigurationChange], _ new: SupervisorConfiguration) -> [String] {
    changes.filter { $0.kind != .unchanged }.map { change in
      guard case .worker(let name) = change.subject, let worker = worker(named: name), !worker.isLeaving,
        let settings = new.worker(named: name), settings.enabled, worker.configuration.enabled,
        settings.role == worker.role.name
      else { return "\(change)" }
      return change.text(of: rest(of: worker))
    }
  }

  /// Workers that have failed and that a reload leaves so, since nothing of theirs differs: a line each.
  func remarks(on changes: [ConfigurationChange]) -> [String] {
    changes.compactMap { change in
      guard case .worker(let name) = change.subject, change.kind == .unchanged, let worker = worker(named: name),
        worker.machine.state.kind == .failed
      else { return nil }
      return "\(name) stays failed: roost start \(name)"
    }
  }

  /// Seats a worker of the configuration and starts it, unless one of that name is still leaving: then it comes after
  /// that one.
  private func place(_ name: String) throws {
    guard worker(named: name) == nil, let settings = configuration.worker(named: name) else { return }
    try add(settings)
    if settings.enabled { worker(named: name)?.receive(.startRequested) }
  }

  private func remove(_ name: String) {
    guard let worker = worker(named: name), !worker.isLeaving else { return }
    worker.isLeaving = true
    worker.receive(.stopRequested(drain: nil))
    worker.whenArrived({ [unowned worker] _ in worker.isAtRest }) { [unowned self, unowned worker] in left(worker) }
  }

  /// A worker that was to leave is gone.
  private func left(_ worker: ManagedWorker) {
    workers.removeAll { $0 === worker }
    worker.recording?.end(RecordingEnd(.connection, "the worker has left the configuration"))
    shell.change { hub, _, _ in hub.releaseSeat(worker.seat) }
    if stopping == nil {
      do { try place(worker.name) } catch { log(.error, "supervision", "\(worker.name) cannot be started: \(error)") }
    }
    tellDependents()
    registry.changed()
  }

  /// Running workers hear of settings and log levels that need no restart.
  func broadcastSettings() {
    for worker in workers {
      guard let connection = shell.connection(on: worker.seat) else { continue }
      let levels = JSONValue.object(logLevels.mapValues { .string($0) })
      let settings = JSONValue(configuration.settingsSent(to: worker.configuration))
      connection.send(.config, json: JSONValue.object(["logLevels": levels, "settings": settings]))
    }
  }
}
