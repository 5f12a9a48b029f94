public import Contracts
internal import Frames
internal import MethodReference

/// Methods as `roost methods` shows them.
public enum MethodText {
  /// A line each: the name, and what it does.
  public static func list(_ methods: [MethodDeclaration], _ style: Style) -> [String] {
    var table = TextTable([
      .init(title: "METHOD"), .init(title: "KIND", isSpareable: true), .init(title: "WHAT IT DOES"),
    ])
    for method in methods {
      table.append([.init(method.name), .init(kind(method), .dim), .init(method.text)])
    }
    return table.lines(style) + ["", "'roost methods NAME' shows arguments and answer of one."]
  }

  /// All details of one method.
  public static func details(_ method: MethodDeclaration, _ style: Style) -> [String] {
    let document = MethodReference.document(of: method)
    var lines = [style.paint(method.name, .strong), method.text, ""]
    lines.append("Served by  \(method.server.name)")
    lines.append("Callers    \(method.callers.map(\.name).joined(separator: ", "))")
    if !method.refusals.isEmpty {
      lines.append("Refusals   \(method.refusals.map(\.rawValue).joined(separator: ", "))")
    }
    let forms = [("Arguments", "arguments"), ("Each part", "parts"), ("Answer", "answer"), ("Value", "value")]
    for (title, key) in forms {
      guard let form = document[key] else { continue }
      lines += ["", style.paint(title, .strong)] + self.form(form, document["definitions"] ?? .null, style)
    }
    if case .string(let example)? = document["example"] {
      lines += ["", style.paint("Example", .strong), "  roost call \(method.name) '\(example)'"]
    }
    return lines
  }

  /// `method`, `stream` or `topic`.
  private static func kind(_ method: MethodDeclaration) -> String {
    method.kind == .topic ? "topic" : method.part == nil ? "method" : "stream"
  }

  private static func form(_ form: JSONValue, _ definitions: JSONValue, _ style: Style) -> [String] {
    guard case .string(let word)? = form["form"] else { return [] }
    switch word {
    case "event": return ["  one signed event as JSON, in the bytes it was signed as (NIP-01)"]
    case "raw":
      guard case .string(let drawing)? = form["drawing"] else { return [] }
      return ["  RAW:"] + drawing.split(separator: "\n").map { "    \($0)" }
    case "either":
      guard case .array(let forms)? = form["of"] else { return [] }
      return forms.enumerated().flatMap { index, form in
        (index == 0 ? [] : ["  or"]) + self.form(form, definitions, style)
      }
    case "json": return schema(form["schema"] ?? .null, definitions, style)
    default: return ["  nothing"]
    }
  }

  /// The members of an object, with those of nested objects indented below.
  private static func schema(
    _ schema: JSONValue, _ definitions: JSONValue, _ style: Style, depth: Int = 1, seen: Set<String> = []
  ) -> [String] {
    if case .string("array")? = schema["type"], let items = schema["items"] {
      return self.schema(items, definitions, style, depth: depth, seen: seen)
    }
    guard case .string(let reference)? = schema["$ref"], case let name = String(reference.dropFirst(14)),
      !seen.contains(name), case .object(let members)? = definitions[name]?["properties"]
    else { return depth == 1 ? ["  \(type(schema))"] : [] }
    var required: [JSONValue] = []
    if case .array(let names)? = definitions[name]?["required"] { required = names }
    if members.isEmpty { return ["  none"] }
    var lines: [String] = []
    let indent = String(repeating: "  ", count: depth)
    // Required members first.
    let order = members.sorted { left, right in
      let (isLeft, isRight) = (required.contains(.string(left.key)), required.contains(.string(right.key)))
      return isLeft == isRight ? left.key < right.key : isLeft
    }
    for (member, value) in order {
      let isRequired = required.contains(.string(member))
      let head = "\(member): \(type(value))\(isRequired ? "" : ", optional")"
      var text = ""
      if case .string(let said)? = value["description"] { text = said }
      lines.append(indent + style.paint(head, .plain) + (text.isEmpty ? "" : style.paint("  \(text)", .dim)))
      lines += self.schema(value, definitions, style, depth: depth + 1, seen: seen.union([name]))
    }
    return lines
  }

  /// `text`, `number from 0`, `list of Job`.
  private static func type(_ schema: JSONValue) -> String {
    if case .string(let reference)? = schema["$ref"] { return String(reference.dropFirst(14)) }
    if case .array(let words)? = schema["enum"] {
      return words.map { if case .string(let word) = $0 { word } else { "?" } }.joined(separator: " | ")
    }
    guard case .string(let word)? = schema["type"] else { return "any JSON" }
    switch word {
    case "string": return "text"
    case "boolean": return "true or false"
    case "number": return "number"
    case "array": return "list of \(type(schema["items"] ?? .null))"
    case "object": return "object of \(type(schema["additionalProperties"] ?? .null))"
    default:
      guard case .integer(let minimum)? = schema["minimum"] else { return "whole number" }
      if case .integer(let maximum)? = schema["maximum"] { return "whole number, \(minimum) to \(maximum)" }
      return "whole number from \(minimum)"
    }
  }
}
