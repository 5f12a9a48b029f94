// Roost's own lines of the access table, made from the declarations in Methods/. A line may be added, never renumbered.

extension AccessTable {
  /// Roost's own lines.
  public static let builtIn: [AccessEntry] = BuiltInMethods.all.map {
    AccessEntry($0.number, $0.name, $0.kind, servedBy: $0.server, callers: $0.callers)
  }
}
