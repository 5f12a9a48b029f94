import Frames

/// A whole request as a fake sees it.
struct Arrival {
  var service: Service
  /// Connections of all services count from 0.
  var connection: Int
  /// 0 over HTTP/1.1.
  var stream: Int
  /// The fakes' clock, milliseconds since 1970.
  var milliseconds: Int64
  var method = ""
  var path = ""
  /// In the order they came, names in lower case, pseudo-headers among them.
  var headers: [(name: String, value: String)] = []
  var body: [UInt8] = []

  /// The values of a header.
  func values(_ name: String) -> [String] { headers.filter { $0.name == name }.map(\.value) }
  /// The only value of a header; nil when there is none.
  func value(_ name: String) -> String? { values(name).first }
}

/// What a fake answers.
struct Reply {
  var status: Int
  var headers: [(String, String)] = []
  var body: [UInt8] = []
  var delayMilliseconds: Int64 = 0
  /// Why, as it stands in the journal.
  var reason = ""
  /// What the fake read out of the body, for the journal.
  var plaintext: [UInt8]?

  init(_ status: Int, reason: String = "") {
    self.status = status
    self.reason = reason
  }

  /// An answer in JSON.
  init(_ status: Int, _ json: JSONValue, reason: String = "") {
    self.init(status, reason: reason)
    body = JSONPayload.encode(json)
    headers = [("content-type", "application/json; charset=UTF-8")]
  }
}

/// The fakes.
enum Service: String, CaseIterable {
  case apns, fcm, oauth, webpush
}

extension JSONValue {
  /// A text's characters.
  var text: String? { if case .string(let text) = self { text } else { nil } }
  /// A whole number.
  var whole: Int64? { if case .integer(let number) = self { number } else { nil } }
  var members: [String: JSONValue]? { if case .object(let members) = self { members } else { nil } }
  var elements: [JSONValue]? { if case .array(let elements) = self { elements } else { nil } }

  /// The value of a JSON text; nil when it is none.
  init?(json: some Sequence<UInt8>) {
    do { self = try JSONPayload.decode(JSONValue.self, from: json) } catch { return nil }
  }
}
