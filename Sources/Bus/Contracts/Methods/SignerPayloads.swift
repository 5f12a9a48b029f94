// Payloads of the signer that are handled as bytes. `NostrContracts/WrapRunContract.swift` explains their layouts;
// `docs/methods.json` shows the drawings from here.

/// A run of gift wraps to open, RAW: `WrapRun`.
public struct WrapRunBytes: BytePayload, Hashable {
  /// The layout of a run.
  public static var form: PayloadForm {
    .raw(
      name: "wrap-run",
      drawing: """
         0  32 bytes  the account's public key
        32  u32       how many wraps, little-endian, 256 at most
        36            so many records:
            u32       byteCount, little-endian
                      byteCount bytes: one gift wrap as JSON
        """)
  }
  /// The run.
  public var bytes: [UInt8]
  /// Whether the bytes are RAW.
  public var isRaw: Bool

  /// A run.
  public init(_ bytes: [UInt8], isRaw: Bool = true) { (self.bytes, self.isRaw) = (bytes, isRaw) }
}

/// The answer of `signer.open`, RAW: `WrapOutcomes` in the order of the wraps.
public struct WrapOutcomesBytes: BytePayload, Hashable {
  /// The layout of outcomes.
  public static var form: PayloadForm {
    .raw(
      name: "wrap-outcomes",
      drawing: """
        All numbers little-endian.
         0  u32  how many outcomes, one for each wrap, in their order
         4       so many records:
                  0  u8   0 opened, else refused: 1 malformed, 2 not a gift wrap, 3 too large, 4 not for this account,
                          5 undecryptable, 6 not a seal, 7 forged seal, 8 malformed rumor, 9 wrong author
                  1  u8   3 x 0
                  4  u32  byteCount
                  8       opened: 32 bytes author, 32 bytes the rumor's id, byteCount bytes: the rumor as JSON;
                          refused: byteCount bytes: why, UTF-8, 200 at most
        """)
  }
  /// The outcomes.
  public var bytes: [UInt8]
  /// Whether the bytes are RAW.
  public var isRaw: Bool

  /// Outcomes.
  public init(_ bytes: [UInt8], isRaw: Bool = true) { (self.bytes, self.isRaw) = (bytes, isRaw) }
}
