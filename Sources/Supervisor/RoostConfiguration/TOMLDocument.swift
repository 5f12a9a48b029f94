/// What a TOML text says: its values as a tree, each with its place in the text.
///
/// The tree is stored flat in one array, and a table holds the indices of its values. A header may return to a table at
/// any depth; in this form each step is one look-up, and no table is copied to be changed.
package struct TOMLDocument: Sendable {
  /// A value, table or array.
  struct Node: Sendable {
    var kind: Kind
    /// Where the key begins at its first occurrence; for an array's element, where the element begins.
    let keyOffset: Int
    /// Where the value begins; for a table with a header of its own, where the last key of that header begins.
    var valueOffset: Int
    /// Steps from the top.
    let depth: Int
    /// For a table: the indices of its values.
    var entries: [String: Int] = [:]
    /// For an array: the indices of its elements, in order.
    var elements: [Int] = []
  }

  enum Kind: Sendable {
    case string(String)
    case integer(Int)
    case number(Double)
    case boolean(Bool)
    /// A date, a time, or both. Recognised but not kept, because no setting is one.
    case date
    /// `[1, 2]`: complete, nothing can be added.
    case array
    /// `[[a]]`: each such header adds an element.
    case tables
    case table(Origin)
  }

  /// How a table was made, which decides what may add to it.
  enum Origin: Sendable {
    /// On the path of a header, `a` of `[a.b]`. Becomes `headed` by a header of its own, or `dotted`.
    case implied
    /// By its own header, or as the top. Headers below it may add tables to it.
    case headed
    /// On the path of a dotted key, `a` of `a.b = 1`. More such keys, and headers below it, may add to it.
    case dotted
    /// In braces. Complete, nothing can be added.
    case inline
  }

  let source: TOMLSource
  /// The first node is the top.
  var nodes: [Node]

  init(source: TOMLSource) {
    self.source = source
    nodes = [Node(kind: .table(.headed), keyOffset: 0, valueOffset: 0, depth: 0)]
  }

  /// The node at `path`; nil if the text has none.
  func node(at path: ConfigurationPath) -> Node? {
    var number = 0
    for step in path.steps {
      switch step {
      case .key(let key):
        guard let inner = nodes[number].entries[key] else { return nil }
        number = inner
      case .index(let index):
        guard nodes[number].elements.indices.contains(index) else { return nil }
        number = nodes[number].elements[index]
      }
    }
    return nodes[number]
  }

  /// Whether the text gives a value at `path`.
  func contains(_ path: ConfigurationPath) -> Bool { node(at: path) != nil }

  /// The byte at which `path` begins, or else the nearest enclosing part that is in the text; nil if the text lacks
  /// even its top table.
  func offset(of path: ConfigurationPath) -> Int? {
    var path = path
    while !path.steps.isEmpty {
      if let node = node(at: path) { return node.keyOffset }
      path = path.parent
    }
    return nil
  }

  /// The line of `path`, or else of the nearest enclosing part that is in the text; nil if the text lacks even its top
  /// table.
  func line(of path: ConfigurationPath) -> Int? { offset(of: path).map(source.line) }

  /// Where the key of `path` begins; for an array's element, where the element begins.
  func keyPlace(of path: ConfigurationPath) -> TOMLPlace? { node(at: path).map { source.place(at: $0.keyOffset) } }

  /// Where the value of `path` begins; for a table with a header of its own, the last key of that header.
  func valuePlace(of path: ConfigurationPath) -> TOMLPlace? { node(at: path).map { source.place(at: $0.valueOffset) } }

  /// The values by key, without dates and times; ``dates`` has the paths of those.
  package var tree: [String: ConfigurationValue] { entries(of: nodes[0]) }

  private func entries(of node: Node) -> [String: ConfigurationValue] {
    node.entries.compactMapValues { value(of: nodes[$0]) }
  }

  private func value(of node: Node) -> ConfigurationValue? {
    switch node.kind {
    case .string(let text): .string(text)
    case .integer(let integer): .integer(integer)
    case .number(let number): .number(number)
    case .boolean(let flag): .boolean(flag)
    case .date: nil
    case .array, .tables: .array(node.elements.compactMap { value(of: nodes[$0]) })
    case .table: .table(entries(of: node))
    }
  }

  /// The paths of dates and times, in no particular order.
  var dates: [ConfigurationPath] {
    var found: [ConfigurationPath] = []
    collectDates(of: nodes[0], at: .top, into: &found)
    return found
  }

  private func collectDates(of node: Node, at path: ConfigurationPath, into found: inout [ConfigurationPath]) {
    if case .date = node.kind { found.append(path) }
    for (key, number) in node.entries { collectDates(of: nodes[number], at: path.appending(key), into: &found) }
    for (index, number) in node.elements.enumerated() {
      collectDates(of: nodes[number], at: path.appending(.index(index)), into: &found)
    }
  }
}
