// The comments beside the members of payload types, which `docs/methods.json` and `roost methods` show. `make methods`
// collects them from the sources into MemberTexts.swift; these tests hold that file to them.
import Glibc
import Testing

@Suite("The texts of members")
struct MemberTextsTests {
  static let path = "Sources/Bus/MethodReference/MemberTexts.swift"

  @Test("stand in MemberTexts.swift as they do in the sources ('make methods' writes it)")
  func current() throws {
    let wanted = MemberTextsFile.text(from: SourceTree.swiftFiles(below: "Sources/Bus").filter(MemberTextsFile.isRead))
    if getenv("ROOST_WRITE") != nil {
      let file = try #require(fopen(SourceTree.root + "/" + Self.path, "w"))
      defer { fclose(file) }
      #expect(fputs(wanted, file) >= 0)
      return
    }
    #expect(SourceTree.file(Self.path)?.text == wanted, "run 'make methods'")
  }

  @Test("are read of nested types, of refusals and roles, without the marks of a comment")
  func reading() {
    let source = SourceFile(
      path: "Sources/Bus/Contracts/A.swift",
      text: """
        /// A thing.
        public struct Thing: Codable {
          /// How many ``Thing/Part``s,
          /// ``partMaximum`` in all.
          public var count: Int
          /// Most.
          public static let partMaximum = 2_048
          /// A part.
          public struct Part {
            /// Its name.
            public var name: String
            /// Not kept.
            public var length: Int { name.count }
          }
          public var silent: Int
        }
        extension RefusalCode {
          /// No room.
          public static let diskFull: RefusalCode = "disk-full"
        }
        public struct Role {
          /// Signs.
          public static let signer = Role(number: 8, name: "signer")
        }
        """)
    #expect(
      MemberTextsFile.texts(of: source) == [
        "Thing.count\tHow many Parts, 2048 in all.", "Thing.Part.name\tIts name.", "RefusalCode.disk-full\tNo room.",
        "Role.signer\tSigns.",
      ])
  }
}

/// Makes the file.
enum MemberTextsFile {
  static func isRead(_ file: SourceFile) -> Bool {
    file.path.hasPrefix("Sources/Bus/Contracts/") || file.path == "Sources/Bus/Frames/Refusal.swift"
  }

  static func text(from files: [SourceFile]) -> String {
    let lines = files.flatMap(texts).sorted()
    return """
      // Written by `make methods` from the comments beside the members: change them there.

      /// What the comments say of each member of a payload type, of each role and of each refusal.
      public enum MemberTexts {
        /// A line each: the name, a tab, the text.
        static let lines = #\"\"\"
      \(lines.map { "    " + $0 }.joined(separator: "\n"))
          \"\"\"#
      }

      """
  }

  static func texts(of file: SourceFile) -> [String] {
    var types: [(name: String, indent: Int)] = []
    var comment: [String] = []
    var found: [String] = []
    let numbers = Self.numbers(in: file)
    for line in file.lines {
      let body = line.drop { $0 == " " }
      let indent = line.count - body.count
      if body.hasPrefix("///") {
        comment.append(String(body.dropFirst(3).drop { $0 == " " }))
        continue
      }
      while let last = types.last, !body.isEmpty, body != "{", last.indent >= indent { types.removeLast() }
      if let name = declared(["public struct ", "public enum ", "extension "], body) { types.append((name, indent)) }
      if let name = member(body, in: types.map(\.name)), !comment.isEmpty {
        found.append("\(name)\t\(plain(comment, numbers))")
      }
      if !body.hasPrefix("@") { comment = [] }
    }
    return found
  }

  private static func declared(_ prefixes: [String], _ body: Substring) -> String? {
    guard let prefix = prefixes.first(where: body.hasPrefix) else { return nil }
    return String(body.dropFirst(prefix.count).prefix { $0.isLetter || $0.isNumber || $0 == "." })
  }

  /// The full name of a stored property, a role or a refusal.
  private static func member(_ body: Substring, in types: [String]) -> String? {
    let owner = types.joined(separator: ".")
    if body.hasPrefix("public static let "), ["RefusalCode", "Role"].contains(owner) {
      let parts = body.split(separator: "\"")
      return parts.count == 2 || parts.count == 3 ? "\(owner).\(parts[1])" : nil
    }
    guard body.hasPrefix("public var ") || body.hasPrefix("public let "), !body.contains("{") else { return nil }
    return "\(owner).\(body.dropFirst("public var ".count).prefix { $0.isLetter || $0.isNumber })"
  }

  /// The constants of a file that are numbers, by name: `relayMaximum` is 32.
  private static func numbers(in file: SourceFile) -> [String: String] {
    var numbers: [String: String] = [:]
    for line in file.lines {
      let words = line.split(separator: " ")
      guard words.count >= 6, words[1...2] == ["static", "let"], words[words.count - 2] == "=",
        words[words.count - 1].allSatisfy({ $0.isNumber || $0 == "_" })
      else { continue }
      numbers[String(words[3].prefix { $0 != ":" })] = words[words.count - 1].filter { $0 != "_" }
    }
    return numbers
  }

  /// One line, with the last name of what ``Type/member`` links to, or its value if that is a number.
  private static func plain(_ comment: [String], _ numbers: [String: String]) -> String {
    var text = ""
    var isLink = false
    let parts = comment.joined(separator: " ").split(separator: "``", omittingEmptySubsequences: false)
    for part in parts {
      let name = String(part.split(separator: "/").last ?? "")
      text += isLink ? numbers[name] ?? name : String(part)
      isLink.toggle()
    }
    return text
  }
}
