internal import Contracts

/// `[worker.NAME.keep.KEEP]`: what a mirror keeps beside what concerns the accounts.
public struct KeepConfiguration: Sendable, Hashable {
  /// Its name: lower case letters, digits and hyphens, at most 32.
  public var name: String
  /// A NIP-01 filter, as JSON.
  public var filter = ""
  /// The relays that are asked; empty: as the planner chooses.
  public var relays: [String] = []
  /// Bytes that it may have; 0: no bound.
  public var bytes = 0

  /// Nothing is kept yet.
  public init(name: String) { self.name = name }

  /// The form in which the worker receives it.
  var settings: ConfigurationValue {
    .table([
      "name": .string(name), "filter": .string(filter), "relays": relays.configurationValue, "bytes": .integer(bytes),
    ])
  }
}

extension Schema {
  /// `[worker.NAME.keep.KEEP]`
  static let keep: [Setting<KeepConfiguration>] = [
    Setting("filter", \.filter, .keptFilter),
    Setting("relays", \.relays, .list(of: .relay, "relay URLs", count: 0...MirrorKeep.relayMaximum)),
    Setting("bytes", \.bytes, .size(0...1 << 50)),
  ]
}
