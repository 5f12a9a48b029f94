public import Contracts
public import Frames

// Every method, topic, role and refusal as data, for `roost methods` and `docs/methods.json`, so that the author of a
// client in any language need not read Swift. All of it is made from the constants of Contracts and from the comments
// beside the members of their types (`MemberTexts`, written by `make methods`).

/// The reference of the protocol's methods.
public struct MethodReference {
  private var schema = PayloadSchema()

  /// An empty reference.
  public init() {
    schema.describe = { type, member in
      var more = Self.bounds["\(type).\(member)"] ?? [:]
      if let text = MemberTexts.text("\(type).\(member)") { more["description"] = .string(text) }
      return more
    }
  }

  /// The complete reference, as in `docs/methods.json`: one object on each line.
  public static var document: String {
    var reference = MethodReference()
    let methods = BuiltInMethods.all.map { reference.entry($0) }
    let roles = Role.builtIn.map { role in
      JSONValue.object([
        "name": .string(role.name), "number": .integer(Int64(role.number)),
        "text": .string(MemberTexts.text("Role.\(role.name)") ?? ""),
      ])
    }
    let refusals = MemberTexts.names(of: "RefusalCode").map { code in
      JSONValue.object(["code": .string(code), "text": .string(MemberTexts.text("RefusalCode.\(code)") ?? "")])
    }
    let definitions = reference.schema.definitions.sorted { $0.key < $1.key }
    let lists = [("methods", methods), ("refusals", refusals), ("roles", roles)]
    var lines = ["{"]
    lines.append("\"$schema\":\"https://json-schema.org/draft/2020-12/schema\",")
    lines.append("\"definitions\":{")
    lines.append(definitions.map { "\(text(.string($0.key))):\(text($0.value))" }.joined(separator: ",\n"))
    lines.append("},")
    for (index, (name, values)) in lists.enumerated() {
      lines.append("\"\(name)\":[")
      lines.append(values.map(text).joined(separator: ",\n"))
      lines.append(index == lists.count - 1 ? "]" : "],")
    }
    return (lines + ["}", ""]).joined(separator: "\n")
  }

  /// One method or topic, with the schemas of all types that it needs under `definitions`.
  public static func document(of method: MethodDeclaration) -> JSONValue {
    var reference = MethodReference()
    guard case .object(var entry) = reference.entry(method) else { preconditionFailure("an entry is an object") }
    entry["definitions"] = .object(reference.schema.definitions)
    return .object(entry)
  }

  private static func text(_ value: JSONValue) -> String {
    String(decoding: JSONPayload.encode(value), as: UTF8.self)
  }

  private mutating func entry(_ method: MethodDeclaration) -> JSONValue {
    var entry: [String: JSONValue] = [
      "name": .string(method.name), "number": .integer(Int64(method.number)), "role": .string(method.server.name),
      "callers": .array(method.callers.map { .string($0.name) }), "text": .string(method.text),
    ]
    guard method.kind == .method else {
      entry["kind"] = .string("topic")
      entry["value"] = form(method.arguments.form)
      return .object(entry)
    }
    entry["kind"] = .string("method")
    entry["arguments"] = form(method.arguments.form)
    entry["answer"] = form(method.answer.form)
    if let part = method.part { entry["parts"] = form(part.form) }
    if let arguments = method.arguments as? any MethodArguments.Type { entry["example"] = .string(arguments.example) }
    if !method.refusals.isEmpty { entry["refusals"] = .array(method.refusals.map { .string($0.rawValue) }) }
    return .object(entry)
  }

  private mutating func form(_ form: PayloadForm) -> JSONValue {
    switch form {
    case .nothing: return .object(["form": .string("nothing")])
    case .event: return .object(["form": .string("event")])
    case .json(let type): return .object(["form": .string("json"), "schema": schema.schema(of: type)])
    case .raw(let name, let drawing):
      return .object(["form": .string("raw"), "name": .string(name), "drawing": .string(drawing)])
    case .either(let forms):
      return .object(["form": .string("either"), "of": .array(forms.map { self.form($0) })])
    }
  }

  /// Bounds of numbers, by `Type.member`.
  private static let bounds: [String: [String: JSONValue]] = {
    var bounds: [String: [String: JSONValue]] = [:]
    for method in BuiltInMethods.all {
      if let type = method.arguments as? any MethodArguments.Type { add(type, to: &bounds) }
    }
    return bounds
  }()

  private static func add<Arguments: MethodArguments>(
    _ type: Arguments.Type, to bounds: inout [String: [String: JSONValue]]
  ) {
    for range in type.ranges {
      var owner: any Decodable.Type = type
      var names = range.name.split(separator: ".").map(String.init)
      while names.count > 1, let member = PayloadShape(of: owner).members.first(where: { $0.name == names[0] }) {
        owner = member.type
        names.removeFirst()
      }
      var bound: [String: JSONValue] = ["minimum": .integer(range.minimum)]
      if let maximum = range.maximum { bound["maximum"] = .integer(maximum) }
      bounds["\(PayloadSchema.name(of: owner)).\(names[0])"] = bound
    }
  }
}

extension MemberTexts {
  /// The text about a member: `StoreQuery.limit`, `Role.client`, `RefusalCode.full`.
  public static func text(_ name: String) -> String? { byName[name] }

  /// The members of a type that have a text, in their order.
  static func names(of type: String) -> [String] {
    byName.keys.filter { $0.hasPrefix(type + ".") }.map { String($0.dropFirst(type.count + 1)) }.sorted()
  }

  private static let byName: [String: String] = {
    var texts: [String: String] = [:]
    for line in lines.split(separator: "\n") {
      let parts = line.split(separator: "\t", maxSplits: 1)
      if parts.count == 2 { texts[String(parts[0])] = String(parts[1]) }
    }
    return texts
  }()
}
