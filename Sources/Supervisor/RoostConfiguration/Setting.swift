internal import Contracts
internal import Frames

/// What it takes for a changed value to be in force.
public enum SettingEffect: Int, Sendable, Hashable, Comparable {
  /// Nothing: it is in force at once, or sent to the running worker.
  case live
  /// The worker is drained and started again.
  case restartsWorker
  /// roostd itself is stopped and started again.
  case restartsSupervisor

  /// Order by how much is disturbed.
  public static func < (left: SettingEffect, right: SettingEffect) -> Bool { left.rawValue < right.rawValue }
}

/// One key of the file: its name, where its value lives, how it is written, and what changing it takes.
///
/// Reading, the hints for mistyped keys, `effective`, the comparison at reload and the tests of the shipped file all
/// walk lists of these; a key that is in no list does not exist.
struct Setting<Root: Sendable>: Sendable {
  /// The key as it stands in the file.
  let name: String
  let effect: SettingEffect
  /// Takes the value from the file.
  let write: @Sendable (inout Root, ConfigurationValue, NotationContext) throws(Complaints) -> Void
  /// The value in force, as it may stand in the file.
  let read: @Sendable (Root) -> ConfigurationValue
  /// Puts the default in; nothing to do where the structure has it.
  let reset: @Sendable (inout Root) -> Void

  /// Binds a key to a stored property.
  init<Value>(
    _ name: String, _ property: any WritableKeyPath<Root, Value> & Sendable, _ notation: Notation<Value>,
    _ effect: SettingEffect = .live
  ) {
    self.name = name
    self.effect = effect
    write = { root, value, context throws(Complaints) in
      root[keyPath: property] = try notation.parse(value, context)
    }
    read = { notation.render($0[keyPath: property]) }
    reset = { _ in }
  }
}

extension Setting where Root == WorkerConfiguration {
  /// Binds a key to an entry of the settings that the worker is sent, where it has the name `entry`. The default is
  /// that of the settings' type.
  init<Value: SettingsEntry, Settings: WorkerSettings>(
    _ name: String, entry: String, of settings: Settings.Type, _ notation: Notation<Value>,
    _ effect: SettingEffect = .live
  ) {
    self.name = name
    self.effect = effect
    let standard: Value = Self.standard(entry, of: settings)
    write = { worker, value, context throws(Complaints) in
      worker.settings.set(entry, to: try notation.parse(value, context).configurationValue)
    }
    read = { worker in
      notation.render(worker.settings[entry].flatMap(Value.init(configurationValue:)) ?? standard)
    }
    reset = { $0.settings.set(entry, to: standard.configurationValue) }
  }

  private static func standard<Value: SettingsEntry>(_ entry: String, of settings: (some WorkerSettings).Type) -> Value
  {
    // `try?`: a type without this member fails the precondition, in each test of the schema.
    let table = try? JSONPayload.decode(ConfigurationValue.self, from: JSONPayload.encode(settings.init()))
    guard let value = table?[entry].flatMap(Value.init(configurationValue:)) else {
      preconditionFailure("\(settings) has no member '\(entry)' of this type")
    }
    return value
  }
}

/// What can be an entry of a worker's settings.
protocol SettingsEntry: Sendable, Hashable {
  init?(configurationValue: ConfigurationValue)
  var configurationValue: ConfigurationValue { get }
}

extension Bool: SettingsEntry {
  init?(configurationValue: ConfigurationValue) {
    guard case .boolean(let value) = configurationValue else { return nil }
    self = value
  }
  var configurationValue: ConfigurationValue { .boolean(self) }
}

extension ConnectorSettings.Dialling: SettingsEntry {}
extension StoreSettings.Verification: SettingsEntry {}
extension PushSettings.Disclosure: SettingsEntry {}
extension PushSettings.Admission: SettingsEntry {}
extension PushSettings.OldSignatures: SettingsEntry {}
extension PushSettings.AppleEnvironment: SettingsEntry {}
extension PushSettings.NostrRegistration: SettingsEntry {}
extension PushSettings.Content: SettingsEntry {}

extension SettingsEntry where Self: RawRepresentable<String> {
  init?(configurationValue: ConfigurationValue) {
    guard case .string(let word) = configurationValue else { return nil }
    self.init(rawValue: word)
  }
  var configurationValue: ConfigurationValue { .string(rawValue) }
}

extension String: SettingsEntry {
  init?(configurationValue: ConfigurationValue) {
    guard case .string(let text) = configurationValue else { return nil }
    self = text
  }
  var configurationValue: ConfigurationValue { .string(self) }
}

extension Int: SettingsEntry {
  init?(configurationValue: ConfigurationValue) {
    guard case .integer(let value) = configurationValue else { return nil }
    self = value
  }
  var configurationValue: ConfigurationValue { .integer(self) }
}

extension [String]: SettingsEntry {
  init?(configurationValue: ConfigurationValue) {
    guard case .array(let values) = configurationValue else { return nil }
    self = values.compactMap { if case .string(let text) = $0 { text } else { nil } }
  }
  var configurationValue: ConfigurationValue { .array(map(ConfigurationValue.string)) }
}

extension ConfigurationValue {
  /// Puts an entry into a table; a value of another kind becomes a table first.
  mutating func set(_ key: String, to value: ConfigurationValue) {
    var entries: [String: ConfigurationValue] = [:]
    if case .table(let present) = self { entries = present }
    entries[key] = value
    self = .table(entries)
  }
}
