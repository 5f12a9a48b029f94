internal import Contracts
internal import Frames

// What a mirror keeps beside what concerns the accounts.

extension ConfigurationReader {
  /// Reads `[worker.NAME.keep.KEEP]`.
  mutating func readKeeps(
    _ value: ConfigurationValue, at path: ConfigurationPath, into worker: inout WorkerConfiguration
  ) {
    guard case .table(let entries) = value else {
      return report(
        "expected tables by name, [\(path).NAME], but this is \(value.kind)", at: path, tableDepth: path.steps.count - 1
      )
    }
    guard entries.count <= MirrorKeep.countMaximum else {
      return report(
        "\(entries.count) tables; at most \(MirrorKeep.countMaximum) are possible", at: path,
        tableDepth: path.steps.count)
    }
    for (name, value) in entries.sorted(by: { $0.key < $1.key }) {
      let inner = path.appending(name)
      if let complaint = Names.complaint(about: name) {
        report(complaint, at: inner, tableDepth: 4)
        continue
      }
      let keep = read(value, at: inner, Schema.keep, over: KeepConfiguration(name: name))
      if value["filter"] == nil {
        report("this needs a filter: filter = '{\"authors\":[\"…\"]}'", at: inner, tableDepth: 4)
      } else if keep.bytes == 0, MirrorKeep.isBoundless(keep.filter) {
        report(
          "this filter names neither ids, authors nor tags, so relays have millions of such events: set bytes",
          at: inner.appending("filter"), tableDepth: 4)
      }
      worker.keeps.append(keep)
    }
  }
}

extension Notation where Value == String {
  /// A filter that a mirror can keep.
  static let keptFilter = Notation { value, context throws(Complaints) in
    let text = try Notation.filter.parse(value, context)
    if let objection = MirrorKeep.objection(to: text) { throw Complaints(objection) }
    return text
  } render: {
    .string($0)
  }
}
