public import Frames
internal import JSON

// How every worker reads the arguments of a request.
//
// An argument that is silently ignored is worse than one that is refused: a request with the misspelt `{"filter":[…]}`
// would return everything the relay has. So a name that a method does not have is an error, and the error shows an
// example of the arguments. The names are in one place, the example, which people see and which a test compares with
// the type. A separate list would get out of date.
//
// There are two codes, the same for every method. `bad-payload`: the bytes do not have the form that the protocol gives
// for the method, JSON or RAW. `bad-request`: the bytes can be read, but their values are not valid. In both cases
// nothing was done.

/// The arguments of a method, which are a JSON object.
public protocol MethodArguments: Payload, Codable {
  /// A JSON object with each argument, as a caller would write it. Refusals show it, and it is the list of names.
  static var example: String { get }

  /// Names that callers write for another name, and that no similar spelling leads to: `id` for `job`.
  static var misnomers: [String: String] { get }

  /// Numbers with bounds.
  static var ranges: [FieldRange<Self>] { get }

  /// What else is wrong with a value of the right type, as a sentence: `'topics' has one that is empty`.
  var objection: String? { get }
}

/// Arguments that contain filters.
public protocol FilterArguments: MethodArguments {
  /// NIP-01 filters.
  var filters: [JSONValue] { get }
}

/// Arguments that contain one filter.
public protocol OneFilterArguments: MethodArguments {
  /// A NIP-01 filter.
  var filter: JSONValue { get }
}

extension MethodArguments {
  /// No such names.
  public static var misnomers: [String: String] { [:] }

  /// No numbers with bounds.
  public static var ranges: [FieldRange<Self>] { [] }

  /// Never an objection.
  public var objection: String? { nil }

  /// What is wrong with a value of the right type: a number outside its bounds, or the ``objection``.
  public var problem: String? { Self.ranges.lazy.compactMap { $0.objection(to: self) }.first ?? objection }

  /// Reads the arguments of a request to `method`. An empty payload counts as `{}`.
  ///
  /// - Throws: `bad-payload` if it is RAW or not JSON; `bad-request` if it is not an object, has a name that the method
  ///   does not know (the refusal gives the nearest name), the same name twice in any of its objects, half of a
  ///   surrogate pair, or a value of another type or out of its range (the refusal gives the path).
  public init(of method: String, json payload: [UInt8], isRaw: Bool = false) throws(Refusal) {
    guard !isRaw else {
      throw Refusal(.badPayload, "the arguments of \(method) are JSON, and these are RAW", outcome: .notStarted)
    }
    let json = payload.isEmpty ? Array("{}".utf8) : payload
    switch JSONFlaw.first(in: json) {
    case .notJSON(let fault)?:
      throw Refusal(.badPayload, "the arguments of \(method) are not JSON: \(fault)", outcome: .notStarted)
    case let flaw?: throw Self.bad(flaw.description, method)
    case nil: break
    }
    guard let given = memberNames(of: json) else {
      throw Self.bad("the arguments of \(method) are one JSON object", method)
    }
    let known = PayloadShape(of: Self.self).members.map(\.name)
    if let stranger = given.first(where: { !known.contains($0) }) {
      let meant = Self.misnomers[stranger].map { "; did you mean '\($0)'?" }
      let hint = known.isEmpty ? ": it takes none" : meant ?? NearestName.hint(stranger, among: known)
      throw Self.bad("\(method) has no argument '\(stranger.prefix(argumentNameLengthMaximum))'\(hint)", method)
    }
    do throws(Refusal) { self = try JSONPayload.decode(Self.self, from: json) } catch {
      throw Self.bad(error.message, method)
    }
    if let problem { throw Self.bad(problem, method) }
  }

  private static func bad(_ message: String, _ method: String) -> Refusal {
    Refusal(.badRequest, "\(message)\nas in: \(method) '\(example)'", outcome: .notStarted)
  }
}

/// The bounds of a number in some arguments.
public struct FieldRange<Arguments>: Sendable {
  /// Its name; for a number in an inner object, with the object's name: `payment.jobMaximum`.
  public let name: String
  /// The least value.
  public let minimum: Int64
  /// The greatest value; nil: the greatest value of the type.
  public let maximum: Int64?
  private let value: @Sendable (Arguments) -> Int64?

  /// A number that is at least `minimum`, and at most `maximum` if that is given.
  public init(
    _ name: String, from minimum: Int64 = 0, to maximum: Int64? = nil,
    _ value: @escaping @Sendable (Arguments) -> Int64?
  ) {
    self.name = name
    self.minimum = minimum
    self.maximum = maximum
    self.value = value
  }

  func objection(to arguments: Arguments) -> String? {
    guard let value = value(arguments), value < minimum || value > maximum ?? .max else { return nil }
    let bounds = maximum.map { "from \(minimum) to \($0)" } ?? "from \(minimum)"
    return "'\(name)' is \(value); a whole number \(bounds) is expected"
  }
}

/// The longest part of an unknown name that a refusal repeats, in characters.
private let argumentNameLengthMaximum = 64

/// The arguments of a method that takes none.
public struct NoArguments: MethodArguments, Hashable {
  /// `{}`
  public static let example = "{}"

  /// An empty object.
  public init() {}
}

/// The names in a JSON object without a flaw, in order; nil when the value is not an object.
private func memberNames(of json: [UInt8]) -> [String]? {
  json.withUnsafeBytes { bytes in
    var scanner = JSONScanner(bytes, depthMaximum: JSONFlaw.depthMaximum)
    var names: [String] = []
    do throws(JSONFault) {
      try scanner.readObject { name, scanner throws(JSONFault) in
        names.append(name.string(in: bytes))
        try scanner.skipValue()
      }
    } catch { return nil }
    return names.sorted()
  }
}
