/// How one part of the configuration differs from its former state.
public struct ConfigurationChange: Sendable, Hashable {
  /// The part of the configuration.
  public enum Subject: Sendable, Hashable, CustomStringConvertible {
    /// A table of roostd's own: `supervisor`, `bus` or `log`.
    case table(String)
    /// A worker, by name.
    case worker(String)
    /// A role of the file, by name.
    case role(String)

    /// The table's name, such as `worker.relay`.
    public var description: String {
      switch self {
      case .table(let name): name
      case .worker(let name): "worker.\(name)"
      case .role(let name): "role.\(name)"
      }
    }
  }

  /// How the part differs.
  public enum Kind: Sendable, Hashable {
    /// Not at all.
    case unchanged
    /// It is new.
    case added
    /// It was removed.
    case removed
    /// It has other values; the effect is the one among its keys that disturbs most.
    case changed(SettingEffect)
  }

  /// One key and its two values, in the form of the file.
  public struct Key: Sendable, Hashable {
    /// The key, with its inner table if it has one: `limits.open-files`.
    public var name: String
    /// The old value.
    public var old: ConfigurationValue
    /// The new value.
    public var new: ConfigurationValue
    /// What is needed for the new value to take effect.
    public var effect: SettingEffect
  }

  /// The part.
  public var subject: Subject
  /// How the part differs.
  public var kind: Kind
  /// The keys that differ, in the order of the schema; empty unless the kind is `changed`.
  public var keys: [Key]
}

extension ConfigurationChange: CustomStringConvertible {
  /// Why the worker of a change does not run; this decides what the change does.
  public enum Rest: Sendable, Hashable {
    /// It has failed, or waits for its next start: the change starts it, because it may have removed the cause.
    case failed
    /// It was stopped, is held, has ended, or is attached from outside: the change takes effect at its next start.
    case parked
  }

  /// Lines for people: the part and what will be done, then each key.
  public var description: String { text(of: nil) }

  /// The same for a worker that does not run.
  ///
  /// - Parameter rest: why the worker does not run; nil for one that runs, and for a part that is not a worker.
  public func text(of rest: Rest?) -> String {
    let head =
      switch (kind, rest) {
      case (.unchanged, _): "unchanged"
      case (.added, _): "added"
      case (.removed, _): "removed"
      case (.changed, .failed): "changed, is started: it had failed"
      case (.changed(.restartsWorker), .parked): "changed, in force when it is started"
      case (.changed(.live), _): "changed, in force at once"
      case (.changed(.restartsWorker), _):
        if case .role = subject { "changed, its workers restart" } else { "changed, restarts" }
      case (.changed(.restartsSupervisor), _): "changed, in force when roostd is restarted"
      }
    return keys.reduce("[\(subject)] \(head)") { text, key in
      let note =
        switch key.effect {
        case .live: ""
        case .restartsWorker: rest == nil ? " (by a restart of the worker)" : ""
        case .restartsSupervisor: " (needs a restart of roostd)"
        }
      return text + "\n  \(key.name): \(key.old) → \(key.new)\(note)"
    }
  }
}

extension SupervisorConfiguration {
  /// What a reload from `old` to this configuration changes, part by part: the tables of roostd, then workers and roles
  /// in the order of this file, then those that were removed. Unchanged parts are included.
  ///
  /// A change of a role's `serves` restarts its workers, because a worker announces what it serves in HELLO. The change
  /// of each such worker says so too.
  public func changes(from old: SupervisorConfiguration) -> [ConfigurationChange] {
    var result = [
      Self.change(of: .table("supervisor"), Self.differences(Schema.supervisor, old.supervisor, supervisor)),
      Self.change(of: .table("bus"), Self.differences(Schema.bus, old.bus, bus)),
      Self.change(of: .table("log"), Self.differences(Schema.log, old.log, log)),
    ]
    for worker in workers {
      guard let before = old.worker(named: worker.name) else {
        result.append(ConfigurationChange(subject: .worker(worker.name), kind: .added, keys: []))
        continue
      }
      let keys = Self.differences(from: before, to: worker) + roleDifferences(for: worker, from: old)
      result.append(Self.change(of: .worker(worker.name), keys))
    }
    for role in roles {
      guard let before = old.role(named: role.name) else {
        result.append(ConfigurationChange(subject: .role(role.name), kind: .added, keys: []))
        continue
      }
      result.append(Self.change(of: .role(role.name), Self.differences(Schema.role, before, role)))
    }
    let gone =
      old.workers.filter { worker(named: $0.name) == nil }.map { ConfigurationChange.Subject.worker($0.name) }
      + old.roles.filter { role(named: $0.name) == nil }.map { ConfigurationChange.Subject.role($0.name) }
    return result + gone.map { ConfigurationChange(subject: $0, kind: .removed, keys: []) }
  }

  private static func change(
    of subject: ConfigurationChange.Subject, _ keys: [ConfigurationChange.Key]
  ) -> ConfigurationChange {
    let gravest = keys.map(\.effect).max()
    return ConfigurationChange(subject: subject, kind: gravest.map { .changed($0) } ?? .unchanged, keys: keys)
  }

  private static func differences<Root>(
    _ settings: [Setting<Root>], _ old: Root, _ new: Root, prefix: String = ""
  ) -> [ConfigurationChange.Key] {
    settings.compactMap { setting in
      let (before, after) = (setting.read(old), setting.read(new))
      guard before != after else { return nil }
      return ConfigurationChange.Key(name: prefix + setting.name, old: before, new: after, effect: setting.effect)
    }
  }

  private static func differences(
    from old: WorkerConfiguration, to new: WorkerConfiguration
  ) -> [ConfigurationChange.Key] {
    var keys = differences(Schema.worker, old, new) + differences(Schema.limits, old, new, prefix: "limits.")
    // Another role means another program, so comparing the keys of the two roles would mean nothing.
    guard old.role == new.role else { return keys }
    keys += differences(Schema.settings(ofRole: new.role), old, new)
    keys += jobDifferences(from: old.jobs, to: new.jobs)
    keys += wakeDifferences(from: old.wakes, to: new.wakes)
    keys += keepDifferences(from: old.keeps, to: new.keeps)
    if !RoleConfiguration.builtIn.contains(new.role), old.settings != new.settings {
      keys.append(
        ConfigurationChange.Key(name: "settings", old: old.settings, new: new.settings, effect: .restartsWorker))
    }
    return keys
  }

  private static func jobDifferences(
    from old: [JobConfiguration], to new: [JobConfiguration]
  ) -> [ConfigurationChange.Key] {
    Set((old + new).map(\.kind)).sorted().flatMap { kind -> [ConfigurationChange.Key] in
      let (before, after) = (old.first { $0.kind == kind }, new.first { $0.kind == kind })
      if let before, let after { return differences(Schema.job, before, after, prefix: "job.\(kind).") }
      func word(_ job: JobConfiguration?) -> ConfigurationValue { .string(job == nil ? "none" : "served") }
      return [
        ConfigurationChange.Key(name: "job.\(kind)", old: word(before), new: word(after), effect: .restartsWorker)
      ]
    }
  }

  private static func wakeDifferences(
    from old: [WakeConfiguration], to new: [WakeConfiguration]
  ) -> [ConfigurationChange.Key] {
    Set((old + new).map(\.type)).sorted().flatMap { type -> [ConfigurationChange.Key] in
      let standard = WakeConfiguration(type: type)
      let (before, after) = (old.first { $0.type == type } ?? standard, new.first { $0.type == type } ?? standard)
      return differences(Schema.wake, before, after, prefix: "wake.\(type).")
    }
  }

  private static func keepDifferences(
    from old: [KeepConfiguration], to new: [KeepConfiguration]
  ) -> [ConfigurationChange.Key] {
    Set((old + new).map(\.name)).sorted().flatMap { name -> [ConfigurationChange.Key] in
      let none = KeepConfiguration(name: name)
      let (before, after) = (old.first { $0.name == name } ?? none, new.first { $0.name == name } ?? none)
      return differences(Schema.keep, before, after, prefix: "keep.\(name).")
    }
  }

  private func roleDifferences(
    for worker: WorkerConfiguration, from old: SupervisorConfiguration
  ) -> [ConfigurationChange.Key] {
    guard let before = old.role(named: worker.role), let after = role(named: worker.role) else { return [] }
    return Self.differences(Schema.role, before, after, prefix: "role.\(worker.role).")
      .filter { $0.effect == .restartsWorker }
  }
}
