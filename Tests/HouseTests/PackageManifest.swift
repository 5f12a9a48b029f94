// Package.swift, read as the one table of layers. SwiftPM could print it as JSON, but not while it runs these tests: it
// holds a lock on the package. The manifest is formatted by `swift format`, so reading its text is dependable; the
// tests of this file's own suite say what shape it relies on.

import Testing

/// A target as `Package.swift` declares it.
struct PackageTarget: Sendable, CustomTestStringConvertible {
  enum Kind: Sendable {
    case library, program, system, test

    /// The kind that a call makes: one of Package.swift's own functions, or of SwiftPM's.
    init?(call: Substring) {
      switch call {
      case "library", "target": self = .library
      case "program", "executableTarget": self = .program
      case "systemLibrary": self = .system
      case "tests", "testTarget": self = .test
      default: return nil
      }
    }
  }

  var kind: Kind
  var name: String
  /// Targets and products it may import, by the names that stand in an import.
  var dependencies: [String]
  /// Where its sources are, from the root of the checkout.
  var path: String

  /// The name that stands in an import: SwiftPM turns what cannot be in one into `_`.
  var moduleName: String { String(name.map { $0.isLetter || $0.isNumber ? $0 : "_" }) }
  var testDescription: String { name }
}

/// The targets of `Package.swift`, in the order in which they stand there: the layers, lowest first.
struct PackageManifest: Sendable {
  var targets: [PackageTarget]

  static let own = PackageManifest(reading: SourceTree.file("Package.swift")?.text ?? "")

  init(reading manifest: String) {
    let code = manifest.split(separator: "\n").map(withoutComment).joined(separator: "\n")
    let lists = namedLists(in: code)
    targets = calls(in: code[...]) { $0 == "room" }.flatMap { _, room in
      // The first call is that of the room itself; what it calls stands behind its bracket.
      let folder = strings(in: room).first ?? ""
      return calls(in: room) { PackageTarget.Kind(call: $0) != nil }.compactMap { call, text in
        PackageTarget.Kind(call: call).map { PackageTarget($0, text, in: folder, lists) }
      }
    }
  }

  func target(named name: String) -> PackageTarget? { targets.first { $0.name == name } }
  func target(ofModule module: String) -> PackageTarget? { targets.first { $0.moduleName == module } }
}

extension PackageTarget {
  /// The target that a call makes. Its first string is its name, or a path whose end is its name; what it depends on
  /// stands behind that, before the first label.
  fileprivate init(_ kind: Kind, _ call: Substring, in folder: String, _ lists: [Substring: [String]]) {
    let place = strings(in: call).first ?? ""
    let behind = call.firstRange(of: "\"\(place)\"").map { call[$0.upperBound...] } ?? ""
    let label = behind.firstRange(of: #/\b[a-zA-Z]+:/#)
    let own = label.flatMap { behind[$0] == "in:" ? strings(in: behind[$0.upperBound...]).first : nil }
    self.kind = kind
    name = place.split(separator: "/").last.map(String.init) ?? place
    dependencies = names(in: behind[..<(label?.lowerBound ?? behind.endIndex)], lists)
    path = "\(folder)/\(own ?? place)"
  }
}

/// The lists that have a name, `let events = ["Clocks", "Nostr"]`, with those in them that stand above.
private func namedLists(in code: String) -> [Substring: [String]] {
  var lists: [Substring: [String]] = [:]
  for match in code.matches(of: #/(?:^|\n)let ([a-z0-9A-Z]+) = ([^\n]*(?:\n[ \]\)][^\n]*)*)/#) {
    lists[match.output.1] = names(in: match.output.2, lists)
  }
  return lists
}

/// What stands in an expression of lists: its strings, and what is in the lists that it names.
private func names(in expression: Substring, _ lists: [Substring: [String]]) -> [String] {
  let pieces = expression.split(separator: "\"", omittingEmptySubsequences: false)
  return pieces.indices.flatMap { index in
    guard index.isMultiple(of: 2) else { return [String(pieces[index])] }
    return pieces[index].split { !$0.isLetter && !$0.isNumber }.flatMap { lists[$0] ?? [] }
  }
}

/// The strings in a text, in order.
private func strings(in text: Substring) -> [String] {
  let pieces = text.split(separator: "\"", omittingEmptySubsequences: false)
  return pieces.indices.filter { !$0.isMultiple(of: 2) }.map { String(pieces[$0]) }
}

/// Each call of a function that is wanted, with its arguments, brackets balanced. A function's declaration is none.
private func calls(in code: Substring, _ isWanted: (Substring) -> Bool) -> [(Substring, Substring)] {
  var found: [(Substring, Substring)] = []
  var rest = code
  while let open = rest.firstIndex(of: "(") {
    let before = rest[..<open]
    let start = before.lastIndex { !$0.isLetter }.map { before.index(after: $0) } ?? before.startIndex
    let isDeclaration = before[..<start].hasSuffix("func ")
    rest = rest[rest.index(after: open)...]
    guard !isDeclaration, isWanted(before[start...]) else { continue }
    let arguments = balanced(code[open...], "(", ")")
    found.append((before[start...], arguments))
    rest = code[arguments.endIndex...]
  }
  return found
}

/// From an opening bracket to the one that closes it.
private func balanced(_ text: Substring, _ open: Character, _ close: Character) -> Substring {
  var depth = 0
  for index in text.indices {
    if text[index] == open { depth += 1 }
    if text[index] == close { depth -= 1 }
    if depth == 0 { return text[...index] }
  }
  return text
}

/// A line without the comment at its end; `//` inside a string is part of an address.
private func withoutComment(_ line: Substring) -> Substring {
  var isInString = false
  var previous: Character = " "
  for index in line.indices {
    if line[index] == "\"" { isInString.toggle() }
    if line[index] == "/" && previous == "/" && !isInString { return line[..<line.index(before: index)] }
    previous = line[index]
  }
  return line
}
