/// What a TOML text says: its values as a tree, each with the place where it stands.
///
/// The tree lies flat in one array, and a table holds the numbers of its values there. Headers come back to tables at
/// any depth, and so each step is one look-up and no table is copied to be changed.
package struct TOMLDocument: Sendable {
  /// A value, table or array.
  struct Node: Sendable {
    var kind: Kind
    /// Where the key begins under which it was met first; of an array's element, where the element does.
    let keyOffset: Int
    /// Where the value begins; of a table with a header of its own, where that does.
    var valueOffset: Int
    /// Steps from the top.
    let depth: Int
    /// Of a table: the numbers of its values.
    var entries: [String: Int] = [:]
    /// Of an array: the numbers of its elements, in order.
    var elements: [Int] = []
  }

  enum Kind: Sendable {
    case string(String)
    case integer(Int)
    case number(Double)
    case boolean(Bool)
    /// A date, a time, or both. Recognised and not kept, because no setting is one.
    case date
    /// `[1, 2]`: complete where it stands.
    case array
    /// `[[a]]`: each such header adds an element.
    case tables
    case table(Origin)
  }

  /// How a table came to be, which decides what may add to it.
  enum Origin: Sendable {
    /// On the way of a header, `a` of `[a.b]`. Becomes `headed` by a header of its own, or `dotted`.
    case implied
    /// By its own header, or as the top. Headers below it may add tables to it.
    case headed
    /// On the way of a dotted key, `a` of `a.b = 1`. More such keys may add to it, and headers below it.
    case dotted
    /// In braces. Complete where it stands.
    case inline
  }

  let source: TOMLSource
  /// The first is the top.
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

  /// Where `path` begins, in bytes, or the nearest thing around it that is in the text; nil if not even its top table
  /// is.
  func offset(of path: ConfigurationPath) -> Int? {
    var path = path
    while !path.steps.isEmpty {
      if let node = node(at: path) { return node.keyOffset }
      path = path.parent
    }
    return nil
  }

  /// The line of `path`, or of the nearest thing around it that is in the text; nil if not even its top table is.
  func line(of path: ConfigurationPath) -> Int? { offset(of: path).map(source.line) }

  /// Where the key of `path` stands; of an array's element, where the element does.
  func keyPlace(of path: ConfigurationPath) -> TOMLPlace? { node(at: path).map { source.place(at: $0.keyOffset) } }

  /// Where the value of `path` stands; of a table with a header of its own, the first key of that header.
  func valuePlace(of path: ConfigurationPath) -> TOMLPlace? { node(at: path).map { source.place(at: $0.valueOffset) } }

  /// The values by key. Dates and times are left out; ``dates`` tells where they are.
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

  /// The paths at which dates and times stand, in no order.
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
