// Which tables exist, and what may add to them. TOML's rule is that everything is said once: no key twice, no header
// twice, and what is in braces or brackets is complete. `TOMLDocument.Origin` holds what this rule must remember.

extension TOMLReader {
  /// `[a.b]`: returns the table, which must not have been defined.
  mutating func defineTable(_ keys: [Key]) throws(TOMLFault) -> Int {
    let parent = try enter(keys.dropLast())
    let last = keys[keys.count - 1]
    guard let number = document.nodes[parent].entries[last.text] else {
      return try addTable(last, in: parent, .headed)
    }
    guard case .table(.implied) = document.nodes[number].kind else {
      throw refusal(ofHeader: keys[...], over: document.nodes[number])
    }
    document.nodes[number].kind = .table(.headed)
    document.nodes[number].valueOffset = last.offset
    return number
  }

  /// `[[a.b]]`: returns the new element of the array.
  mutating func addElement(_ keys: [Key]) throws(TOMLFault) -> Int {
    let parent = try enter(keys.dropLast())
    let last = keys[keys.count - 1]
    let array: Int
    if let number = document.nodes[parent].entries[last.text] {
      guard case .tables = document.nodes[number].kind else {
        throw refusal(ofElement: keys[...], over: document.nodes[number])
      }
      array = number
    } else {
      array = try add(.tables, last.offset, depth: document.nodes[parent].depth + 1)
      document.nodes[parent].entries[last.text] = array
    }
    let element = try add(.table(.headed), last.offset, depth: document.nodes[array].depth + 1)
    document.nodes[array].elements.append(element)
    return element
  }

  /// Follows the path of a header from the top, through the last element of each array of tables.
  private mutating func enter(_ keys: ArraySlice<Key>) throws(TOMLFault) -> Int {
    var table = 0
    for (place, key) in zip(keys.indices, keys) {
      guard let number = document.nodes[table].entries[key.text] else {
        table = try addTable(key, in: table, .implied)
        continue
      }
      let node = document.nodes[number]
      switch node.kind {
      case .table(.implied), .table(.headed), .table(.dotted): table = number
      case .tables: table = node.elements[node.elements.count - 1]
      default: throw refusal(ofHeader: keys[...place], over: node)
      }
    }
    return table
  }

  /// Follows a dotted key from `table` to the place of its last part, which must be free.
  mutating func reserve(_ keys: [Key], in table: Int) throws(TOMLFault) -> (parent: Int, key: Key) {
    var parent = table
    for (place, key) in keys.dropLast().enumerated() {
      guard let number = document.nodes[parent].entries[key.text] else {
        parent = try addTable(key, in: parent, .dotted)
        continue
      }
      switch document.nodes[number].kind {
      case .table(.implied): document.nodes[number].kind = .table(.dotted)
      case .table(.dotted): break
      default: throw refusal(ofKey: keys[...place], over: document.nodes[number])
      }
      parent = number
    }
    let last = keys[keys.count - 1]
    if let number = document.nodes[parent].entries[last.text] {
      let line = source.line(at: document.nodes[number].keyOffset)
      throw fault("\(TOMLReader.written(keys[...])) is given twice, first on line \(line)", at: last.offset)
    }
    return (parent, last)
  }

  private mutating func addTable(_ key: Key, in parent: Int, _ origin: TOMLDocument.Origin) throws(TOMLFault) -> Int {
    let number = try add(.table(origin), key.offset, depth: document.nodes[parent].depth + 1)
    document.nodes[parent].entries[key.text] = number
    return number
  }

  /// Adds the node that a header or a dotted key makes. The caller puts its index into the table or array that contains
  /// it.
  private mutating func add(_ kind: TOMLDocument.Kind, _ offset: Int, depth: Int) throws(TOMLFault) -> Int {
    try checkDepth(depth, at: offset)
    document.nodes.append(TOMLDocument.Node(kind: kind, keyOffset: offset, valueOffset: offset, depth: depth))
    return document.nodes.count - 1
  }

  func checkDepth(_ depth: Int, at offset: Int) throws(TOMLFault) {
    guard depth <= TOMLReader.nestingMaximum else {
      throw fault("nested more than \(TOMLReader.nestingMaximum) levels deep", at: offset)
    }
  }

  // MARK: Complaints

  private func refusal(ofHeader keys: ArraySlice<Key>, over node: TOMLDocument.Node) -> TOMLFault {
    let path = TOMLReader.path(keys)
    let line = source.line(at: node.valueOffset)
    let message =
      switch node.kind {
      case .table(.headed), .table(.implied): "[\(path)] has a header already, on line \(line)"
      case .table(.dotted): "'\(path)' is a table already, made by the dotted key on line \(line)"
      case .tables: "[[\(path)]] is an array of tables, begun on line \(line); one more needs two brackets"
      default: standing(path, node)
      }
    return fault(message, at: keys[keys.endIndex - 1].offset)
  }

  private func refusal(ofElement keys: ArraySlice<Key>, over node: TOMLDocument.Node) -> TOMLFault {
    let path = TOMLReader.path(keys)
    let line = source.line(at: node.valueOffset)
    let message =
      switch node.kind {
      case .table(.inline): standing(path, node)
      case .table: "'\(path)' is one table, since line \(line), and cannot be an array of tables"
      default: standing(path, node)
      }
    return fault(message, at: keys[keys.endIndex - 1].offset)
  }

  private func refusal(ofKey keys: ArraySlice<Key>, over node: TOMLDocument.Node) -> TOMLFault {
    let path = TOMLReader.path(keys)
    let line = source.line(at: node.valueOffset)
    let message =
      switch node.kind {
      case .table(.headed): "'\(path)' has a header of its own, on line \(line); its keys belong there"
      case .tables: "'\(path)' is an array of tables, begun on line \(line); its keys belong below its headers"
      default: standing(path, node)
      }
    return fault(message, at: keys[keys.endIndex - 1].offset)
  }

  /// The complaint about an attempt to add to a value that is complete.
  private func standing(_ path: String, _ node: TOMLDocument.Node) -> String {
    let line = source.line(at: node.valueOffset)
    let what =
      switch node.kind {
      case .string: "a string"
      case .integer: "an integer"
      case .number: "a number"
      case .boolean: "a boolean"
      case .date: "a date or a time"
      case .array, .tables: "an array"
      case .table: "an inline table"
      }
    return "'\(path)' is \(what), on line \(line), and nothing can be added to it"
  }
}
