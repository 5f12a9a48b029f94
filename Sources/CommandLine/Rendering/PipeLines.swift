internal import Cryptography
public import Frames
internal import JSON

// The lines of `roost pipe`: one request a line in, one answer a line out. `docs/protocol.md` describes them for users.
//
//     in   {"id":1,"method":"relay.list","params":{…},"to":"relay-main","ttlMilliseconds":5000,"atMostOnce":true}
//     out  {"id":1,"progress":…}      the worker's progress; if several wait, only the last
//          {"id":1,"part":…}          any number, as they come
//          {"id":1,"result":…}        the end; null when the answer has no contents
//          {"id":1,"error":{"code":"…","message":"…","outcome":"…"}}
//
// `id` may be any JSON value and is returned unchanged; `params` reaches the worker unchanged, to the digit. An answer
// of raw bytes is `{"id":1,"resultBase64":"…"}`, a part `partBase64`.

/// One request of `roost pipe`.
public struct PipeRequest: Sendable, Equatable {
  /// The caller's id for it: any JSON, unchanged.
  public var id: [UInt8]
  /// The method's name.
  public var method: String
  /// The arguments, unchanged; empty if there are no arguments.
  public var parameters: [UInt8]
  /// The worker to call, if one is named.
  public var worker: String?
  /// The time to live of the request; 0 = no limit.
  public var ttlMilliseconds: UInt32
  /// Whether it must not be delivered twice.
  public var atMostOnce: Bool

  /// A line that is not a request: what is wrong, and the id if one could be read.
  public struct Problem: Error, Equatable, Sendable {
    /// The id, unchanged; `null` if the line has no id.
    public let id: [UInt8]
    /// What is wrong, with the line's number.
    public let message: String

    /// A problem with a line.
    public init(id: [UInt8] = Array("null".utf8), message: String) {
      self.id = id
      self.message = message
    }
  }

  private struct Fields: Decodable {
    var method: String
    var to: String?
    var ttlMilliseconds: UInt32?
    var atMostOnce: Bool?
  }

  private static let names: Set<String> = ["id", "method", "params", "to", "ttlMilliseconds", "atMostOnce"]

  /// Reads line `number` (from 1) of the input.
  public init(line: [UInt8], number: Int) throws(Problem) {
    let json: JSONText
    do throws(JSONFault) { json = try JSONText(line) } catch {
      throw Problem(message: "line \(number) is not JSON: \(error)")
    }
    let null = Array("null".utf8)
    id = json["id"].map { json.compact($0) } ?? null
    guard case .object(let members) = json.root else { throw Problem(message: "line \(number) is not an object") }
    for member in members {
      let name = String(decoding: line[member.key].dropFirst().dropLast(), as: UTF8.self)
      guard Self.names.contains(name) else {
        let hint = NearestName.hint(name, among: Self.names)
        throw Problem(id: id, message: "line \(number) has a member '\(name)' that means nothing here\(hint)")
      }
    }
    let fields: Fields
    do throws(Refusal) { fields = try JSONPayload.decode(Fields.self, from: line) } catch {
      throw Problem(id: id, message: "line \(number): \(error.message)")
    }
    let text = json["params"].map { json.compact($0) } ?? []
    method = fields.method
    parameters = text == null ? [] : text
    worker = fields.to
    ttlMilliseconds = fields.ttlMilliseconds ?? 0
    atMostOnce = fields.atMostOnce ?? false
  }
}

/// One line of `roost pipe`'s output, without its newline.
public enum PipeAnswer {
  /// A part, or with `isLast` the terminal answer's payload.
  public static func part(id: [UInt8], payload: [UInt8], isRaw: Bool, isLast: Bool) -> [UInt8] {
    let name = isLast ? "result" : "part"
    let member = isRaw ? (name + "Base64", JSONLine.string(Base64.encode(payload))) : (name, PayloadText.line(payload))
    return JSONLine.object([("id", id), member])
  }

  /// The progress of a worker: nothing more than that it works (`null`), JSON of the method's own, or raw bytes.
  public static func progress(id: [UInt8], payload: [UInt8]) -> [UInt8] {
    guard !payload.isEmpty else { return JSONLine.object([("id", id), ("progress", Array("null".utf8))]) }
    guard (try? JSONText(payload)) != nil else {  // Not JSON is an answer here, not a fault.
      return JSONLine.object([("id", id), ("progressBase64", JSONLine.string(Base64.encode(payload)))])
    }
    return JSONLine.object([("id", id), ("progress", PayloadText.line(payload))])
  }

  /// The end of an answer without contents.
  public static func end(id: [UInt8]) -> [UInt8] { JSONLine.object([("id", id), ("result", Array("null".utf8))]) }

  /// A refusal.
  public static func error(id: [UInt8], _ refusal: Refusal) -> [UInt8] {
    JSONLine.object([("id", id), ("error", JSONPayload.encode(refusal))])
  }

  /// A line that was not a request.
  public static func error(_ problem: PipeRequest.Problem) -> [UInt8] {
    error(id: problem.id, Refusal(.badRequest, problem.message, outcome: .notStarted))
  }
}
