internal import Frames
internal import Glibc

/// A request of `Tests/Workers/PushRelay/PushRequestsTests/Vectors`: of `requests.json`, as phones send them, or of
/// `forged.json`, as nobody should. `make.py` and `make_forged.py` there made and signed them.
public struct PushVector: Decodable, Sendable, CustomStringConvertible {
  /// How the relay is set; nil: as it is by default.
  public struct Rules: Decodable, Hashable, Sendable {
    /// What becomes of signatures of version 1.
    public var v1: String?
    /// Whether paths may be signed with `/v1`.
    public var prefixed: Bool?

    /// The defaults.
    public init() {}
  }

  private struct File: Decodable {
    var cases: [PushVector]
  }

  /// What it shows.
  public var name: String
  /// The key that signed it, 64 hexadecimal digits; "" where nobody has one.
  public var seed: String
  /// The relay's clock, Unix seconds.
  public var now: Int64
  /// The request line's first word.
  public var method: String
  /// Its second, with the mount.
  public var target: String
  /// Name and value of each header field.
  public var fields: [[String]]
  /// In base64.
  public var body: String
  /// How the relay is set.
  public var rules: Rules
  /// `ok`, or the word of the refusal.
  public var expect: String

  /// Its name.
  public var description: String { name }

  /// All of a file; none when it cannot be read, which the test that counts them tells.
  ///
  /// - Parameter file: `requests` or `forged`.
  public static func all(_ file: String) -> [PushVector] {
    let path = SharedFolder.repository + "/Tests/Workers/PushRelay/PushRequestsTests/Vectors/\(file).json"
    let bytes = SharedFolder.bytes(ofFile: path)
    return bytes.flatMap { try? JSONPayload.decode(File.self, from: $0).cases } ?? []
  }
}
