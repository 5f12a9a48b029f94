internal import Contracts
internal import Frames

/// What is needed for a changed value to take effect.
public enum SettingEffect: Int, Sendable, Hashable, Comparable {
  /// Nothing: it takes effect at once, or is sent to the running worker.
  case live
  /// The worker is drained and started again.
  case restartsWorker
  /// roostd itself is stopped and started again.
  case restartsSupervisor

  /// Orders by how much a change disturbs.
  public static func < (left: SettingEffect, right: SettingEffect) -> Bool { left.rawValue < right.rawValue }
}

/// One key of the file: its name, where its value is stored, how it is written, and what a change of it needs.
///
/// Reading, the hints for mistyped keys, `effective`, the comparison at reload and the tests of the shipped file all go
/// through lists of these. A key that is in no list does not exist.
struct Setting<Root: Sendable>: Sendable {
  /// The key as written in the file.
  let name: String
  let effect: SettingEffect
  /// Takes the value from the file.
  let write: @Sendable (inout Root, ConfigurationValue, NotationContext) throws(Complaints) -> Void
  /// The value in force, in the form of the file.
  let read: @Sendable (Root) -> ConfigurationValue
  /// Sets the default; does nothing if the structure has it.
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
  /// Binds a key to the entry `entry` of the settings that the worker is sent. The settings' type has the default.
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
    // `try?`: if the type lacks this member, the precondition below fails, in each test of the schema.
    let table = try? JSONPayload.decode(ConfigurationValue.self, from: JSONPayload.encode(settings.init()))
    guard let value = table?[entry].flatMap(Value.init(configurationValue:)) else {
      preconditionFailure("\(settings) has no member '\(entry)' of this type")
    }
    return value
  }
}

/// A type that can be an entry of a worker's settings.
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
extension ConnectorSettings.Authentication: SettingsEntry {}
extension PlannerSettings.Selection: SettingsEntry {}
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
  /// Sets an entry of a table; a value of another kind becomes a table first.
  mutating func set(_ key: String, to value: ConfigurationValue) {
    var entries: [String: ConfigurationValue] = [:]
    if case .table(let present) = self { entries = present }
    entries[key] = value
    self = .table(entries)
  }
}
