public import Frames

// A method or topic of the bus as a typed constant: `StoreMethod.count`, `SignerTopic.changes`.
//
// The constant is the one place that gives number, name, role, callers and types. A caller passes it to
// `BusConnection.request`, a worker to `Worker.serve`; the access table and `docs/methods.json` are made from the list
// of all constants. So a name cannot be misspelt, and an answer cannot be read as another type.

/// A method with one answer and no parts.
public struct Method<Arguments: Payload, Answer: Payload>: Sendable {
  /// The declaration without its types.
  public let declaration: MethodDeclaration

  /// A method with a number that no other method has ever had.
  public init(
    _ number: UInt16, _ name: String, of server: Role, for callers: [Role], _ text: String,
    refuses refusals: [RefusalCode] = []
  ) {
    declaration = MethodDeclaration(
      number: number, name: name, kind: .method, server: server, callers: callers, text: text,
      arguments: Arguments.self, part: nil, answer: Answer.self, refusals: refusals)
  }
}

/// A method with any number of parts and then one answer.
public struct Stream<Arguments: Payload, Part: Payload, Answer: Payload>: Sendable {
  /// The declaration without its types.
  public let declaration: MethodDeclaration

  /// A method with a number that no other method has ever had.
  public init(
    _ number: UInt16, _ name: String, of server: Role, for callers: [Role], _ text: String,
    refuses refusals: [RefusalCode] = []
  ) {
    declaration = MethodDeclaration(
      number: number, name: name, kind: .method, server: server, callers: callers, text: text,
      arguments: Arguments.self, part: Part.self, answer: Answer.self, refusals: refusals)
  }
}

/// What a role publishes to its subscribers.
public struct Topic<Value: Payload>: Sendable {
  /// The declaration without its type.
  public let declaration: MethodDeclaration

  /// A topic with a number that no other topic or method has ever had.
  public init(_ number: UInt16, _ name: String, of server: Role, for callers: [Role], _ text: String) {
    declaration = MethodDeclaration(
      number: number, name: name, kind: .topic, server: server, callers: callers, text: text, arguments: Value.self,
      part: nil, answer: Nothing.self, refusals: [])
  }
}

extension Method {
  /// The name in the registry.
  public var name: String { declaration.name }
}

extension Stream {
  /// The name in the registry.
  public var name: String { declaration.name }
}

extension Topic {
  /// The name in the registry.
  public var name: String { declaration.name }
}

/// A method or a topic, without its types.
public struct MethodDeclaration: Sendable {
  /// The number in the header's `method`. Part of the protocol: it is never given to another method.
  public let number: UInt16
  /// `relay.request`
  public let name: String
  /// Method or topic.
  public let kind: AccessEntry.Kind
  /// The role that serves or publishes it.
  public let server: Role
  /// The roles that may call or subscribe.
  public let callers: [Role]
  /// What it does, in one or two sentences.
  public let text: String
  /// The type of the arguments, or of what the topic publishes.
  public let arguments: any Payload.Type
  /// The type of each part; nil: it has no parts.
  public let part: (any Payload.Type)?
  /// The type of the answer.
  public let answer: any Payload.Type
  /// Its own refusals, in addition to those that any method may answer with.
  public let refusals: [RefusalCode]
}

extension MethodDeclaration: CustomStringConvertible {
  /// Its name.
  public var description: String { name }
}

/// All methods and topics of Roost's own roles.
public enum BuiltInMethods {
  /// By number.
  public static let all: [MethodDeclaration] = [
    SupervisorMethod.all, RelayMethod.all, StoreMethod.all, PlanMethod.all, JobMethod.all, ProviderMethod.all,
    PushMethod.all, SignerMethod.all, LocalRelayMethod.all, MirrorMethod.all, BackupMethod.all,
    AccountMethod.all, PeopleMethod.all, LinkMethod.all, PageMethod.all,
  ].flatMap(\.self).sorted { $0.number < $1.number }

  /// The methods that a role serves, by number.
  public static func served(by role: Role) -> [MethodDeclaration] {
    all.filter { method in
      guard method.kind == .method else { return false }
      guard method.server == .worker else { return method.server == role }
      let roles = method.number == AccountMethod.forget.declaration.number ? Role.withAccountData : Role.withFiles
      return roles.contains(role)
    }
  }
}
