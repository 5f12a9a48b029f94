import TOMLKit

// The only file that knows the parser. What it hands on is a plain tree, so that the rest is about configuration and
// not about TOML, and the parser can be exchanged here.
//
// Three traits of the parser decide what stands below. It takes the text as a C string, so a NUL byte would silently end
// the file; and a few faults of syntax fail an assertion in it, in release builds too, and would end the process. So text
// with control characters is refused before, and the key locator finds the other hazards; eight million random texts
// found no more. And its table is never freed, a few kilobytes for each reading, which is accepted because a
// configuration is read once and then at each reload by a person.

/// Turns TOML text into a tree of values.
enum TOMLReading {
  /// The tree, and the paths at which values stand that no setting could want (dates and times).
  ///
  /// - Throws: a ``ConfigurationProblem`` with line and column when the text is not TOML.
  static func tree(
    of text: String, file: String, locator: KeyLocator
  ) throws(ConfigurationProblem) -> (tree: [String: ConfigurationValue], dates: [ConfigurationPath]) {
    let bytes = Array(text.utf8)
    if let position = firstControlByte(of: bytes) {
      let line = bytes[..<position].count { $0 == UInt8(ascii: "\n") } + 1
      throw ConfigurationProblem(file: file, line: line, table: "", message: "a control character; not a text file?")
    }
    if let hazard = locator.hazard {
      // What stands before may be wrong as well, and is then the first thing to mend.
      let before = String(decoding: bytes[..<hazard.offset], as: UTF8.self)
      do throws(ConfigurationProblem) {
        _ = try table(of: before, file: file)
      } catch {
        if (error.line ?? 0, error.column ?? 0) < (hazard.line, hazard.column) { throw error }
      }
      throw ConfigurationProblem(
        file: file, line: hazard.line, column: hazard.column, table: "", message: hazard.message)
    }
    let table = try table(of: text, file: file)
    var dates: [ConfigurationPath] = []
    return (entries(of: table, at: .top, dates: &dates), dates)
  }

  /// Where the first byte stands that TOML allows nowhere: a control character that is neither a tab nor a line's end.
  private static func firstControlByte(of bytes: [UInt8]) -> Int? {
    bytes.indices.first { index in
      switch bytes[index] {
      case UInt8(ascii: "\t"), UInt8(ascii: "\n"): false
      case UInt8(ascii: "\r"): index + 1 == bytes.count || bytes[index + 1] != UInt8(ascii: "\n")
      case 0..<0x20, 0x7F: true
      default: false
      }
    }
  }

  private static func table(of text: String, file: String) throws(ConfigurationProblem) -> TOMLTable {
    do {
      return try TOMLTable(string: text)
    } catch let error as TOMLParseError {
      throw ConfigurationProblem(
        file: file, line: error.source.begin.line, column: error.source.begin.column, table: "",
        message: error.description)
    } catch {
      throw ConfigurationProblem(file: file, table: "", message: "the TOML parser failed: \(error)")
    }
  }

  private static func entries(
    of table: TOMLTable, at path: ConfigurationPath, dates: inout [ConfigurationPath]
  ) -> [String: ConfigurationValue] {
    var result: [String: ConfigurationValue] = [:]
    for key in table.keys {
      guard let node = table[key] else { continue }
      result[key] = value(of: node, at: path.appending(key), dates: &dates)
    }
    return result
  }

  private static func value(
    of node: any TOMLValueConvertible, at path: ConfigurationPath, dates: inout [ConfigurationPath]
  ) -> ConfigurationValue? {
    if let text = node.string { return .string(text) }
    if let integer = node.int { return .integer(integer) }
    if let flag = node.bool { return .boolean(flag) }
    if let number = node.double { return .number(number) }
    if let table = node.table { return .table(entries(of: table, at: path, dates: &dates)) }
    if let array = node.array {
      var values: [ConfigurationValue] = []
      for index in 0..<array.count {
        guard let element = value(of: array[index], at: path.appending(.index(index)), dates: &dates) else { continue }
        values.append(element)
      }
      return .array(values)
    }
    dates.append(path)
    return nil
  }
}
