extension PushLedger {
  /// The names of the ring's keys, the newest first.
  public var keyNames: [String] { keys.ring.names }

  /// The name of the key that encrypts.
  public var newestKeyName: String { keys.ring.newest.name }
}
