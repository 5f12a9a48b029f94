internal import Addresses
internal import Cryptography
public import Frames
public import Nostr

// What a program reads from its standard input, one object:
//
//     {"version":1,"kind":5001,"id":"…","customer":"…","createdAt":1700000000,"isEncrypted":false,
//      "inputs":[{"data":"…","type":"text","relay":null,"marker":null,"event":null}],
//      "params":{"lang":["es"]},"output":"text/plain","bid":5000,"topics":[],"content":"","event":{…}}
//
// Inputs and parameters are in clear, even if the request was encrypted; `event` is the request as it was published. An
// input of type `event` carries that event, and one of type `job` the result of that job, if the store has it.

/// The request for a program, as JSON.
public enum JobPaper {
  /// The version of this format.
  public static let version: Int64 = 1

  /// Writes a request.
  ///
  /// - Parameters:
  ///   - request: decrypted, if it was encrypted.
  ///   - resolved: the events that inputs name, by the index of the input.
  public static func json(_ request: JobRequest, resolved: [Int: JSONValue]) -> [UInt8] {
    let terms = request.terms
    func text(_ text: String?) -> JSONValue { text.map { .string($0) } ?? .null }
    let inputs = terms.inputs.enumerated().map { place, input in
      JSONValue.object([
        "data": .string(input.data), "type": .string(input.type), "relay": text(input.relay?.text),
        "marker": text(input.marker), "event": resolved[place] ?? .null,
      ])
    }
    var parameters: [String: [JSONValue]] = [:]
    for parameter in terms.parameters {
      parameters[parameter.name, default: []] += parameter.values.map { .string($0) }
    }
    // `try?`: a verified event is JSON. A program that gets `null` here still has every part of the event above.
    let event = (try? JSONPayload.decode(JSONValue.self, from: request.event.json)) ?? .null
    return JSONPayload.encode(
      JSONValue.object([
        "version": .integer(version), "kind": .integer(Int64(terms.kind)), "id": .string(request.id.description),
        "customer": .string(request.customer.description), "createdAt": .integer(request.createdAt),
        "isEncrypted": .bool(terms.isEncrypted), "inputs": .array(inputs),
        "params": .object(parameters.mapValues { .array($0) }), "output": text(terms.output),
        "bid": terms.bidMillisatoshis.map { .integer($0) } ?? .null,
        "topics": .array(terms.topics.map { .string($0) }), "content": text(request.content.text),
        "event": event,
      ]))
  }
}
