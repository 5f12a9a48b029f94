// Package.swift, read as the one table of layers. SwiftPM could print it as JSON, but not while it runs these tests: it
// holds a lock on the package. The manifest is formatted by `swift format`, so reading its text is dependable; the
// tests of this file's own suite say what shape it relies on.

import Testing

/// A target as `Package.swift` declares it.
struct PackageTarget: Sendable, CustomTestStringConvertible {
  enum Kind: String, CaseIterable, Sendable {
    case library = "target"
    case program = "executableTarget"
    case system = "systemLibrary"
    case test = "testTarget"
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
    // What stands before the list of targets are products, which have `.executable` and the like but none of the kinds.
    targets = declarations(in: code).map { kind, text in
      let name = firstString(after: "name:", in: text) ?? ""
      let folder = kind == .test ? "Tests/" : "Sources/"
      return PackageTarget(
        kind: kind, name: name, dependencies: dependencies(in: text),
        path: firstString(after: "path:", in: text) ?? folder + name)
    }
  }

  func target(named name: String) -> PackageTarget? { targets.first { $0.name == name } }
  func target(ofModule module: String) -> PackageTarget? { targets.first { $0.moduleName == module } }
}

/// The text of each call `.kind(…)`, brackets balanced.
private func declarations(in code: String) -> [(PackageTarget.Kind, Substring)] {
  var found: [(PackageTarget.Kind, Substring)] = []
  var rest = code[...]
  while let dot = rest.firstIndex(of: ".") {
    let after = rest[rest.index(after: dot)...]
    rest = after
    guard let open = after.firstIndex(where: { !$0.isLetter }), after[open] == "(",
      let kind = PackageTarget.Kind(rawValue: String(after[..<open]))
    else { continue }
    let call = balanced(after[open...], "(", ")")
    found.append((kind, call))
    rest = code[call.endIndex...]
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

private func firstString(after label: String, in text: Substring) -> String? {
  guard let range = text.firstRange(of: label) else { return nil }
  let parts = text[range.upperBound...].split(separator: "\"", maxSplits: 2, omittingEmptySubsequences: false)
  return parts.count == 3 ? String(parts[1]) : nil
}

/// Names in the list after `dependencies:`; of `.product(name: "X", package: "Y")` the X.
private func dependencies(in text: Substring) -> [String] {
  guard let label = text.firstRange(of: "dependencies:"),
    let open = text[label.upperBound...].firstIndex(of: "[")
  else { return [] }
  let list = balanced(text[open...], "[", "]")
  let pieces = list.split(separator: "\"", omittingEmptySubsequences: false)
  return pieces.indices.filter { !$0.isMultiple(of: 2) && !pieces[$0 - 1].hasSuffix("package: ") }.map {
    String(pieces[$0])
  }
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
