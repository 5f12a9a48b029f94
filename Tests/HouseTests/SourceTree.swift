// The checkout as these tests see it: a list of text files with their lines. Read once, with plain system calls,
// because the project keeps Foundation out and the tests hold it to that.
import Glibc

/// One text file of the checkout.
struct SourceFile: Sendable, CustomStringConvertible {
  /// Where it is, from the root of the checkout: `Sources/Bus/Frames/Endpoint.swift`.
  let path: String
  /// What it says.
  let text: String
  /// Its lines, without their ends.
  let lines: [Substring]
  /// What follows the last dot of its name, or nothing.
  let kind: Substring
  var description: String { path }

  init(path: String, text: String) {
    self.path = path
    self.text = text
    lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    let name = path.split(separator: "/").last ?? ""
    kind = name.lastIndex(of: ".").map { name[name.index(after: $0)...] } ?? ""
  }

  /// Whether `word` is in it: by bytes, because `String.contains` takes seconds over the whole checkout.
  func contains(_ word: String) -> Bool { strstr(text, word) != nil }
}

/// The files of the checkout these tests stand in.
enum SourceTree {
  /// The folder that holds `Package.swift`, found from where this file was compiled.
  static let root: String = {
    let parts = #filePath.split(separator: "/", omittingEmptySubsequences: false)
    return parts.dropLast(3).joined(separator: "/")
  }()

  /// Every text file, in the order of its path. What a build, a run or an editor leaves behind is not among them.
  static let files: [SourceFile] = {
    var files: [SourceFile] = []
    collect("", into: &files)
    return files.sorted { $0.path < $1.path }
  }()

  /// The Swift files below one folder.
  static func swiftFiles(below folder: String) -> [SourceFile] {
    files.filter { $0.kind == "swift" && $0.path.hasPrefix(folder + "/") }
  }

  /// The file at a path, if there is one.
  static func file(_ path: String) -> SourceFile? { files.first { $0.path == path } }

  /// Whether there is a file or folder at a path.
  static func exists(_ path: String) -> Bool { access(root + "/" + path, F_OK) == 0 }

  /// The folders of the rooms: those that are shared, and one for each worker.
  static let rooms = ["Sources", "Workers"].flatMap { house in folders(in: house).map { "\(house)/\($0)" } }

  /// The names of the folders directly inside one.
  static func folders(in folder: String) -> [String] {
    entries(of: folder).filter { $0.isFolder }.map(\.name).sorted()
  }

  /// Build products, environments, results and inputs that are bytes and not text.
  private static let skipped: Set<String> = [
    ".nginx", ".prometheus", ".git", "run", "results", "corpus", "__pycache__", "Package.resolved",
  ]

  private static func collect(_ folder: String, into files: inout [SourceFile]) {
    for entry in entries(of: folder) where !skipped.contains(entry.name) {
      let path = folder.isEmpty ? entry.name : folder + "/" + entry.name
      if entry.isFolder {
        if !entry.name.hasPrefix(".build") && !entry.name.hasPrefix(".venv") { collect(path, into: &files) }
      } else if let text = read(path) {
        files.append(SourceFile(path: path, text: text))
      }
    }
  }

  private static func entries(of folder: String) -> [(name: String, isFolder: Bool)] {
    guard let directory = opendir(folder.isEmpty ? root : root + "/" + folder) else { return [] }
    defer { closedir(directory) }
    var entries: [(name: String, isFolder: Bool)] = []
    while let entry = readdir(directory) {
      let name = withUnsafeBytes(of: entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
      if name != "." && name != ".." { entries.append((name, entry.pointee.d_type == UInt8(DT_DIR))) }
    }
    return entries
  }

  /// The text of a file; nothing if it holds a NUL, as binaries do.
  private static func read(_ path: String) -> String? {
    guard let file = fopen(root + "/" + path, "r") else { return nil }
    defer { fclose(file) }
    var bytes: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: 1 << 16)
    while case let count = fread(&piece, 1, piece.count, file), count > 0 { bytes += piece[..<count] }
    return bytes.contains(0) ? nil : String(decoding: bytes, as: UTF8.self)
  }
}
