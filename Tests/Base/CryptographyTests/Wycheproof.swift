import Cryptography
import FoundationEssentials
import TestSupport

/// A file of Wycheproof's: groups of cases, bytes as hexadecimal digits.
struct Wycheproof<Group: Decodable>: Decodable {
  let testGroups: [Group]

  /// The groups of `shared/vectors/<folder>/<name>`; none, with a word, where the folder is not there.
  static func groups(_ name: String, in folder: String = "wycheproof") throws -> [Group] {
    guard let lines = SharedFolder.lines(of: "vectors/\(folder)/\(name)") else { return [] }
    return try JSONDecoder().decode(Self.self, from: Data(Array(lines.joined(separator: [10])))).testGroups
  }
}

/// Bytes that a vector gives as hexadecimal digits.
struct Octets: Decodable, ExpressibleByStringLiteral {
  let bytes: [UInt8]

  init(from decoder: any Decoder) throws {
    let text = try decoder.singleValueContainer().decode(String.self)
    bytes = try Hexadecimal.decode(text.utf8) ?? { throw NoDigits() }()
  }

  init(stringLiteral text: String) { bytes = Hexadecimal.decode(text.utf8) ?? [] }

  private struct NoDigits: Error {}
}

extension SecretMemory {
  var bytes: [UInt8] { withBytes { Array($0) } }
}
