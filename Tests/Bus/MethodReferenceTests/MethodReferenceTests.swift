import Contracts
import Frames
import Glibc
import MethodReference
import Testing

@Suite("The reference of methods")
struct MethodReferenceTests {
  private static var path: String {
    let parts = #filePath.split(separator: "/", omittingEmptySubsequences: false)
    return parts.dropLast(4).joined(separator: "/") + "/docs/methods.json"
  }

  private static func read(_ path: String) -> String {
    guard let file = fopen(path, "r") else { return "" }
    defer { fclose(file) }
    var bytes: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: 1 << 16)
    while case let count = fread(&piece, 1, piece.count, file), count > 0 { bytes += piece[..<count] }
    return String(decoding: bytes, as: UTF8.self)
  }

  @Test("docs/methods.json is what the constants say ('make methods' writes it)")
  func current() throws {
    let wanted = MethodReference.document
    if getenv("ROOST_WRITE") != nil {
      let file = try #require(fopen(Self.path, "w"))
      defer { fclose(file) }
      #expect(fputs(wanted, file) >= 0)
      return
    }
    #expect(Self.read(Self.path) == wanted, "run 'make methods'")
    _ = try JSONPayload.decode(JSONValue.self, from: Array(wanted.utf8))
  }

  @Test("Numbers and names are each given once, and each method has callers and a text")
  func declarations() {
    let all = BuiltInMethods.all
    #expect(Set(all.map(\.number)).count == all.count && Set(all.map(\.name)).count == all.count)
    for method in all {
      #expect(!method.callers.isEmpty && method.text.hasSuffix("."), "\(method)")
      #expect(AccessTable()[method.name]?.number == method.number)
    }
  }

  @Test("Every example and every member of it is in the schema", arguments: BuiltInMethods.all.map(\.name))
  func examples(name: String) throws {
    let method = try #require(BuiltInMethods.all.first { $0.name == name })
    guard let arguments = method.arguments as? any MethodArguments.Type else { return }
    let example = try JSONPayload.decode(JSONValue.self, from: Array(arguments.example.utf8))
    let document = MethodReference.document(of: method)
    let schema = document["arguments"]?["schema"] ?? .null
    let problems = SchemaCheck(definitions: document["definitions"] ?? .null).problems(example, schema, "")
    #expect(problems.isEmpty, "\(problems)")
  }

  @Test("Every member of every payload has a text")
  func texts() throws {
    let document = try JSONPayload.decode(JSONValue.self, from: Array(MethodReference.document.utf8))
    guard case .object(let definitions)? = document["definitions"] else { return }
    for (type, schema) in definitions {
      guard case .object(let members)? = schema["properties"] else { continue }
      for (name, member) in members { #expect(member["description"] != nil, "\(type).\(name)") }
    }
    for list in ["refusals", "roles"] {
      guard case .array(let entries)? = document[list] else { continue }
      for entry in entries { #expect(entry["text"] != .string(""), "\(entry)") }
    }
  }
}

/// As much of JSON Schema as the reference uses.
struct SchemaCheck {
  let definitions: JSONValue

  func problems(_ value: JSONValue, _ schema: JSONValue, _ place: String) -> [String] {
    if case .string(let reference)? = schema["$ref"] {
      let name = String(reference.dropFirst("#/definitions/".count))
      guard let schema = definitions[name] else { return ["\(place): no definition of \(name)"] }
      return problems(value, schema, place)
    }
    if case .array(let words)? = schema["enum"], !words.contains(value) { return ["\(place): \(value)"] }
    guard case .string(let type)? = schema["type"] else { return [] }
    switch (type, value) {
    case ("string", .string), ("boolean", .bool), ("number", .number), ("number", .integer): return []
    case ("integer", .integer(let number)):
      if case .integer(let minimum)? = schema["minimum"], number < minimum { return ["\(place): below \(minimum)"] }
      return []
    case ("array", .array(let values)):
      return values.flatMap { problems($0, schema["items"] ?? .null, place + "[]") }
    case ("object", .object(let members)):
      var found: [String] = []
      if case .array(let required)? = schema["required"] {
        for case .string(let name) in required where members[name] == nil {
          found.append("\(place).\(name) is missing")
        }
      }
      for (name, value) in members {
        guard let member = schema["properties"]?[name] ?? schema["additionalProperties"] else {
          found.append("\(place).\(name) is not in the schema")
          continue
        }
        found += problems(value, member, "\(place).\(name)")
      }
      return found
    default: return ["\(place): \(value) is no \(type)"]
    }
  }
}
