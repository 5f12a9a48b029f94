internal import Contracts

/// A line of the access table as it is needed for every frame: numbers without names, so that a look-up copies no text.
struct MethodRoute {
  var isTopic: Bool
  /// The role that serves or publishes it.
  var server: UInt16
  var callers: RoleSet
  /// Whether clients of other users may not call it.
  var isForOwner: Bool
}

/// The access table by number. Numbers are sparse, 1 … 1,023 and from 0x4000: the two ranges are laid end to end.
struct RouteTable {
  private var routes: [MethodRoute?] = []
  private static let builtInCount = 1_024

  init(_ table: AccessTable) {
    for entry in table.all {
      guard let index = RouteTable.index(of: entry.number) else { continue }
      while routes.count <= index { routes.append(nil) }
      routes[index] = MethodRoute(
        isTopic: entry.kind == .topic, server: entry.server.number, callers: entry.callers, isForOwner: entry.isForOwner
      )
    }
  }

  subscript(number: UInt16) -> MethodRoute? {
    guard let index = RouteTable.index(of: number), index < routes.count else { return nil }
    return routes[index]
  }

  @inline(__always)
  private static func index(of number: UInt16) -> Int? {
    if number < builtInCount { return Int(number) }
    return number < AccessTable.firstCustomNumber ? nil : builtInCount + Int(number - AccessTable.firstCustomNumber)
  }
}
