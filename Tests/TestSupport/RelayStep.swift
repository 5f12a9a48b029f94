/// One thing that a ``ScriptedRelay`` does in a connection.
///
/// The steps that are here fall into four kinds: how it greets, what it says, how it leaves, and how steps are put
/// together. For anything else a test writes ``init(_:_:)`` with its own words. Texts that are sent may name what the
/// client chose: `$sub` is the subscription of the last REQ, COUNT or NEG-OPEN that was expected, `$id` the id of the
/// event in the last EVENT or AUTH.
public struct RelayStep: Sendable, CustomStringConvertible {
  /// What it does, for ``ScriptedRelay/Visit/unfinishedStep``.
  public let description: String
  let perform: @Sendable (RelayConversation) throws -> Void

  /// A step of the test's own.
  public init(_ description: String, _ perform: @escaping @Sendable (RelayConversation) throws -> Void) {
    self.description = description
    self.perform = perform
  }

  // MARK: Greeting

  /// Reads the upgrade request, and answers 101.
  ///
  /// - Parameters:
  ///   - key: the value of `Sec-WebSocket-Accept`, instead of the right one.
  ///   - fields: further lines of the head, each with its CRLF.
  ///   - message: a text message in the same write as the 101.
  ///   - pieceByteCount: how many bytes are written at a time.
  public static func accept(
    key: String? = nil, fields: String = "", with message: String? = nil, pieceByteCount: Int = .max
  ) -> RelayStep {
    RelayStep("accept") { peer in
      let head = UpgradeAnswer.switching(to: try peer.readRequest(), accept: key, fields: fields)
      let rest = message.map { WebSocketFrame.text($0).bytes } ?? []
      for piece in pieces(of: Array(head.utf8) + rest, byteCount: pieceByteCount) { try peer.send(piece) }
    }
  }

  /// Reads the upgrade request, and answers these words of HTTP, or of no protocol at all.
  public static func answer(_ head: String) -> RelayStep {
    RelayStep("answer \(head.prefix(20))") { peer in
      _ = try peer.readRequest()
      try peer.send(Array(head.utf8))
    }
  }

  // MARK: Saying

  /// How a text becomes frames.
  public enum Form: Sendable {
    /// One frame, as it should be.
    case whole
    /// Fragments of so many bytes each, and between them a ping with the fragment's number, if wanted.
    case fragments(of: Int, pinging: Bool = false)
    /// One frame with a mask, which only clients may use.
    case masked
    /// One frame with these reserved bits, 1 to 7.
    case reserved(UInt8)
    /// One binary frame.
    case binary
  }

  /// Sends a text message.
  public static func send(_ text: String, _ form: Form = .whole) -> RelayStep {
    RelayStep("send \(text.prefix(40))") { try $0.send(frames($0.filled(text), form)) }
  }

  /// Sends bytes as they are.
  public static func sendBytes(_ bytes: [UInt8]) -> RelayStep {
    RelayStep("send \(bytes.count) bytes") { try $0.send(bytes) }
  }

  /// Sends one frame as it is.
  public static func sendFrame(_ frame: WebSocketFrame) -> RelayStep { sendBytes(frame.bytes) }

  // MARK: Leaving

  /// Sends a close frame; then the script's end waits for the other side to leave.
  public static func close(_ code: UInt16, _ reason: String = "") -> RelayStep { sendFrame(.close(code, reason)) }

  /// Ends the stream without a close frame.
  public static let hangUp = RelayStep("hang up") { $0.hangUp() }

  /// Ends the connection by RST. The visit calls it unfinished, and is over.
  public static let reset = RelayStep("reset") { try $0.reset() }

  /// From here on no ping and no close is answered.
  public static let deaf = RelayStep("be deaf") { $0.isDeaf = true }

  // MARK: Waiting

  /// Waits for a message with this label: `REQ`, `EVENT`, `CLOSE`, `AUTH`, `COUNT`, `NEG-OPEN`. Others are passed over.
  public static func expect(_ label: String) -> RelayStep {
    RelayStep("expect \(label)") { try $0.expect(label) }
  }

  /// Waits until the test calls ``ScriptedRelay/release(_:)`` with this name.
  public static func hold(_ gate: String) -> RelayStep { RelayStep("hold \(gate)") { try $0.hold(gate) } }

  // MARK: Together

  /// Does the steps again and again, until the other side leaves.
  public static func forever(_ steps: RelayStep...) -> RelayStep {
    RelayStep("forever") { peer in while true { for step in steps { try step.perform(peer) } } }
  }

  /// Does the steps one after the other.
  public static func all(_ steps: [RelayStep]) -> RelayStep {
    RelayStep("all") { peer in for step in steps { try step.perform(peer) } }
  }

  // MARK: Bytes

  private static func frames(_ text: String, _ form: Form) -> [UInt8] {
    let payload = Array(text.utf8)
    switch form {
    case .whole: return WebSocketFrame(opcode: 1, payload: payload).bytes
    case .masked: return WebSocketFrame(opcode: 1, payload: payload, mask: [1, 2, 3, 4]).bytes
    case .reserved(let bits): return WebSocketFrame(opcode: 1, payload: payload, reserved: bits).bytes
    case .binary: return WebSocketFrame(opcode: 2, payload: payload).bytes
    case .fragments(let byteCount, let isPinging):
      let pieces = pieces(of: payload, byteCount: byteCount)
      return pieces.enumerated().flatMap { index, piece in
        let isLast = index == pieces.count - 1
        let ping = isPinging && !isLast ? WebSocketFrame(opcode: 9, payload: Array("\(index)".utf8)).bytes : []
        return WebSocketFrame(opcode: index == 0 ? 1 : 0, payload: piece, isFinal: isLast).bytes + ping
      }
    }
  }

  private static func pieces(of bytes: [UInt8], byteCount: Int) -> [[UInt8]] {
    guard byteCount < bytes.count else { return [bytes] }
    return stride(from: 0, to: bytes.count, by: byteCount).map { Array(bytes[$0..<min($0 + byteCount, bytes.count)]) }
  }
}
