// The access table: which roles may call which methods. The callers of Roost's own methods are declared in Methods/
// (`for:`), those of a custom role's methods in `[role.NAME]` of supervisor.conf.
//
// A line is a method or a topic: its number, its name, the role that serves (or publishes) it, and the roles that may
// call (or subscribe). The hub checks the table with header fields only and does not read payloads. A method that is
// not in the table does not exist. Numbers are part of the protocol: a line may be added, never renumbered. Numbers
// 1–255 belong to the supervisor, then 64 to each role; from 0x4000 on they belong to the methods of custom roles.
// Roost's own lines are in Access+BuiltIn.swift.

/// One line of the access table.
public struct AccessEntry: Sendable, Hashable {
  /// Method or topic.
  public enum Kind: Sendable, Hashable {
    /// A member of the role answers it.
    case method
    /// Members of the role publish it.
    case topic
  }
  /// The number in the header's `method`.
  public let number: UInt16
  /// `relay.request`
  public let name: String
  /// Method or topic.
  public let kind: Kind
  /// The role that serves or publishes it.
  public let server: Role
  /// The roles that may call or subscribe.
  public let callers: RoleSet

  /// Whether its payloads must not be written anywhere, because they hold keys, tokens or plaintext.
  public var isSecret: Bool {
    name.hasPrefix("signer.") || name.hasPrefix("backup.") || name == SupervisorMethod.attach.name
  }

  /// Whether of all clients only those of the supervisor's own user may call it: it gives away files.
  public var isForOwner: Bool { name.hasPrefix("backup.") || name == SupervisorMethod.configuration.name }

  /// A line of the table.
  public init(_ number: UInt16, _ name: String, _ kind: Kind = .method, servedBy server: Role, callers: [Role]) {
    self.number = number
    self.name = name
    self.kind = kind
    self.server = server
    self.callers = RoleSet(callers)
  }
}

/// The access table: the built-in lines, and the methods that roles of `supervisor.conf` register.
public struct AccessTable: Sendable {
  /// A role that `supervisor.conf` defines for a user's own workers.
  public struct CustomRole: Sendable, Hashable {
    /// The role's name, which must not be that of a built-in role.
    public var name: String
    /// Methods that it may serve: full names, or `prefix.*`.
    public var serves: [String]
    /// Methods and topics of other roles that it may call or subscribe to: full names, or `prefix.*`.
    public var mayCall: [String]
    /// Roles that may call the methods that it serves.
    public var callableBy: [String]

    /// A custom role.
    public init(name: String, serves: [String], mayCall: [String], callableBy: [String]) {
      self.name = name
      self.serves = serves
      self.mayCall = mayCall
      self.callableBy = callableBy
    }
  }

  private var entries: [AccessEntry?] = []
  private var numbersByName: [String: UInt16] = [:]
  private var rolesByName: [String: Role] = [:]
  private var customRoles: [UInt16: CustomRole] = [:]
  private var nextCustomNumber = AccessTable.firstCustomNumber

  /// The first number given to methods of custom roles.
  public static let firstCustomNumber: UInt16 = 0x4000
  /// The maximum number of methods that custom roles may register.
  public static let customMethodMaximum = 1_024
  /// The longest name of a method that a custom role registers, in bytes. Together with the maximum number of methods
  /// it bounds the registry, which must fit into the WELCOME of every peer.
  public static let methodNameByteCountMaximum = 64
  /// The maximum number of custom roles.
  public static let customRoleMaximum = 64

  /// The built-in table with these custom roles; roles after the 64th are left out.
  public init(customRoles: [CustomRole] = []) {
    for role in Role.builtIn { rolesByName[role.name] = role }
    adopt(customRoles: customRoles)
  }

  /// Adopts changed custom roles. Assigned numbers stay: a role that was removed keeps its number, and may do nothing.
  public mutating func adopt(customRoles changed: [CustomRole]) {
    for number in customRoles.keys {
      customRoles[number]?.serves = []
      customRoles[number]?.mayCall = []
      customRoles[number]?.callableBy = []
    }
    for custom in changed {
      if let known = rolesByName[custom.name] {
        if customRoles[known.number] != nil { customRoles[known.number] = custom }
      } else if customRoles.count < AccessTable.customRoleMaximum {
        let role = Role(number: Role.firstCustomNumber + UInt16(customRoles.count), name: custom.name)
        rolesByName[role.name] = role
        customRoles[role.number] = custom
      }
    }
    for entry in AccessTable.builtIn { insert(widened(entry)) }
    for entry in all where entry.number >= AccessTable.firstCustomNumber {
      insert(customLine(entry.number, entry.name, of: entry.server))
    }
  }

  /// The line of a method that a custom role serves.
  private func customLine(_ number: UInt16, _ name: String, of role: Role) -> AccessEntry {
    var callers = (customRoles[role.number]?.callableBy ?? []).compactMap { rolesByName[$0] }
    for (number, other) in customRoles where AccessTable.matches(name, other.mayCall) {
      callers.append(Role(number: number, name: other.name))
    }
    return AccessEntry(number, name, servedBy: role, callers: callers)
  }

  /// A built-in line, with the custom roles that may call it.
  private func widened(_ entry: AccessEntry) -> AccessEntry {
    var callers = Role.builtIn.filter { entry.callers.contains($0.number) }
    for (number, custom) in customRoles where AccessTable.matches(entry.name, custom.mayCall) {
      callers.append(Role(number: number, name: custom.name))
    }
    return AccessEntry(entry.number, entry.name, entry.kind, servedBy: entry.server, callers: callers)
  }

  private mutating func insert(_ entry: AccessEntry) {
    let index = AccessTable.index(of: entry.number)
    while entries.count <= index { entries.append(nil) }
    entries[index] = entry
    numbersByName[entry.name] = entry.number
  }

  /// Numbers are sparse (up to 1,023 for built-in methods, then from 0x4000). They are folded, so that the table stays
  /// short and a look-up is one array access.
  @inline(__always)
  private static func index(of number: UInt16) -> Int {
    number < 1_024 ? Int(number) : 1_024 + Int(number &- firstCustomNumber)
  }

  /// The line with this number.
  @inline(__always)
  public subscript(number: UInt16) -> AccessEntry? {
    guard number < 1_024 || number >= AccessTable.firstCustomNumber else { return nil }
    let index = AccessTable.index(of: number)
    return index < entries.count ? entries[index] : nil
  }

  /// The line with this name.
  public subscript(name: String) -> AccessEntry? { numbersByName[name].flatMap { self[$0] } }

  /// All lines, in the order of their numbers.
  public var all: [AccessEntry] { entries.compactMap { $0 } }
  /// All roles by name.
  public var roles: [String: Role] { rolesByName }
  /// The role with this name.
  public func role(named name: String) -> Role? { rolesByName[name] }

  /// Whether `name` is one of `patterns`: equal, or below a `prefix.*`.
  public static func matches(_ name: String, _ patterns: [String]) -> Bool {
    patterns.contains { pattern in
      pattern == "*" || pattern == name || (pattern.hasSuffix(".*") && name.hasPrefix(pattern.dropLast()))
    }
  }

  /// Registers the methods that a peer says it serves, all or none. Built-in methods must belong to its role; new ones
  /// need a custom role whose `serves` allows them.
  ///
  /// - Returns: the numbers that the peer serves, and whether the table grew.
  /// - Throws: ``ServeProblem`` with the name of the first method that is not allowed.
  public mutating func register(
    methods: [String], of role: Role
  ) throws(ServeProblem) -> (numbers: [UInt16], grew: Bool) {
    var grown = self
    let numbers = try grown.registerEach(methods, of: role)
    let grew = grown.nextCustomNumber > nextCustomNumber
    if grew { self = grown }
    return (numbers, grew)
  }

  private mutating func registerEach(_ methods: [String], of role: Role) throws(ServeProblem) -> [UInt16] {
    var numbers: [UInt16] = []
    for name in methods {
      if let entry = self[name] {
        guard entry.server == role || entry.server == .worker, entry.kind == .method, mayServe(name, role) else {
          throw ServeProblem(method: name, role: role.name, reason: .notAllowed)
        }
        numbers.append(entry.number)
        continue
      }
      try checkNew(name, of: role)
      insert(customLine(nextCustomNumber, name, of: role))
      numbers.append(nextCustomNumber)
      nextCustomNumber += 1
    }
    return numbers
  }

  /// Checks a method name that is not yet in the table.
  private func checkNew(_ name: String, of role: Role) throws(ServeProblem) {
    let longest = AccessTable.methodNameByteCountMaximum
    guard name.utf8.count <= longest else {
      let head = String(decoding: name.utf8.prefix(longest), as: UTF8.self) + "…"
      throw ServeProblem(method: head, role: role.name, reason: .nameTooLong)
    }
    guard customRoles[role.number] != nil, mayServe(name, role) else {
      throw ServeProblem(method: name, role: role.name, reason: .notAllowed)
    }
    // People type the name, and every peer receives it.
    guard name.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
      throw ServeProblem(method: name, role: role.name, reason: .notPrintable)
    }
    guard Int(nextCustomNumber - AccessTable.firstCustomNumber) < AccessTable.customMethodMaximum else {
      throw ServeProblem(method: name, role: role.name, reason: .tableFull)
    }
  }

  /// A built-in role serves what the table says; a custom role serves what its own configuration allows now.
  private func mayServe(_ name: String, _ role: Role) -> Bool {
    customRoles[role.number].map { AccessTable.matches(name, $0.serves) } ?? true
  }

  /// A peer wants to serve a method that it may not serve.
  public struct ServeProblem: Error, Sendable, Equatable, CustomStringConvertible {
    /// Why it may not.
    public enum Reason: Sendable, Equatable {
      /// Its role does not allow it.
      case notAllowed
      /// The name has more than 64 bytes.
      case nameTooLong
      /// The name contains bytes other than printable ASCII without spaces.
      case notPrintable
      /// Custom roles have registered 1,024 methods since the supervisor started.
      case tableFull
    }
    /// The method's name.
    public let method: String
    /// The peer's role.
    public let role: String
    /// Why it may not.
    public let reason: Reason
    /// The reason as a sentence.
    public var description: String {
      switch reason {
      case .notAllowed:
        "role '\(role)' may not serve '\(method)': allow it with serves = [\"\(method)\"] in [role.\(role)] of supervisor.conf"
      case .nameTooLong:
        "the name of the method '\(method)' is too long: \(AccessTable.methodNameByteCountMaximum) bytes at most"
      case .notPrintable:
        "the name of the method '\(method)' has something else in it than printable ASCII without spaces"
      case .tableFull:
        "'\(method)' is one method too many: \(AccessTable.customMethodMaximum) names at most, counted since roostd started"
      }
    }
  }
}
