// Fuzz entry for the reader of TOML, through which whatever a person types reaches a running supervisor.
// `Scripts/fuzz.sh` builds and runs it.
//
// corpus: toml
//
// The input is a file. If it is refused, the place must be one in it and the message one line. If it is read, its
// values written out again must be read as equal values, with either kind of line end, and no deeper than the bound.
import RoostConfiguration

/// libFuzzer calls this for each input; a failed precondition is a finding.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzTOMLReader(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let bytes = Array(UnsafeBufferPointer(start: start, count: count))
  do throws(TOMLFault) {
    let tree = try TOMLReader.document(of: bytes).tree
    precondition(depth(of: .table(tree)) <= TOMLReader.nestingMaximum, "no value stands deeper than the bound")
    checkRewriting(of: tree, lineEnd: "\n")
    checkRewriting(of: tree, lineEnd: "\r\n")
  } catch {
    check(error, in: bytes)
  }
  return 0
}

private func check(_ fault: TOMLFault, in bytes: [UInt8]) {
  let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
  precondition(lines.indices.contains(fault.place.line - 1), "a fault is on a line of the file")
  precondition(1...lines[fault.place.line - 1].count + 1 ~= fault.place.column, "a fault is in a column of its line")
  precondition(!fault.message.isEmpty, "a fault says what it is")
  precondition(fault.message.unicodeScalars.allSatisfy { $0.value >= 0x20 }, "a message is one line")
}

private func checkRewriting(of tree: [String: ConfigurationValue], lineEnd: String) {
  // The description of a table with one key is `{ key = value }`.
  let lines = tree.map { "\(ConfigurationValue.table([$0.key: $0.value]))".dropFirst(2).dropLast(2) + lineEnd }
  do throws(TOMLFault) {
    let read = try TOMLReader.document(of: Array(lines.joined().utf8)).tree
    // Values that are no number differ from themselves; written out they do not.
    precondition(
      "\(ConfigurationValue.table(read))" == "\(ConfigurationValue.table(tree))", "values are read as written")
  } catch {
    preconditionFailure("values written out are refused: \(error)")
  }
}

private func depth(of value: ConfigurationValue) -> Int {
  switch value {
  case .array(let values): values.reduce(0) { max($0, depth(of: $1) + 1) }
  case .table(let entries): entries.values.reduce(0) { max($0, depth(of: $1) + 1) }
  default: 0
  }
}
