/// The payload of every `example.*` method: what to do, and how far to go before it.
struct Order: Decodable {
  /// Misbehaves in deliveries up to this one. Default 1.
  var lives: UInt16?
  /// How long to take.
  var milliseconds: UInt64?
  /// How many parts or frames.
  var parts: Int?
  /// How many bytes a part, a text or an allocation has.
  var bytes: Int?
  /// A file to which a line is appended: the side effect.
  var path: String?
  /// What the line says.
  var key: String?
  /// How many bytes of a frame come or go before the end.
  var at: Int?
  /// How it dies.
  var signal: Int32?
  /// How it dies.
  var code: Int32?
  /// A topic's number.
  var topic: UInt16?

  var death: Death { Death(code: code, signal: signal) }
}
