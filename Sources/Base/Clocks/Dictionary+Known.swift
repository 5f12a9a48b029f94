extension Dictionary {
  /// The value of a key that must exist: a machine that has lost one of its entries stops instead of continuing.
  @inlinable
  public subscript(known key: Key) -> Value {
    _read {
      guard let value = self[key] else { preconditionFailure("no entry for \(key)") }
      yield value
    }
    _modify {
      guard let index = index(forKey: key) else { preconditionFailure("no entry for \(key)") }
      yield &values[index]
    }
  }
}
