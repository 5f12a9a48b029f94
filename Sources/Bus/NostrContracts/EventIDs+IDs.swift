public import Contracts
internal import Cryptography
public import Nostr

extension EventIDs {
  /// These ids; at most ``EventIDs/countMaximum``.
  public init(_ ids: some Sequence<EventID>) { self.init(ids.flatMap(\.octets.bytes)) }

  /// The ids.
  public var ids: [EventID] { EventID.all(in: bytes) }
}

extension DifferentEvents {
  /// These ids; at most ``DifferentEvents/countMaximum``.
  public init(lackingSide: Side, ids: some Sequence<EventID>) {
    self.init(lackingSide: lackingSide, ids.flatMap(\.octets.bytes))
  }

  /// The ids.
  public var ids: [EventID] { EventID.all(in: bytes) }
}

extension EventID {
  fileprivate static func all(in bytes: [UInt8]) -> [EventID] {
    bytes.withUnsafeBytes { bytes in
      stride(from: 0, to: bytes.count, by: EventIDs.idByteCount).compactMap { offset in
        bytes.baseAddress.map { EventID(Octets32(at: $0 + offset)) }
      }
    }
  }
}
