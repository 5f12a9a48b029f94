public import Bus
public import Contracts
public import Frames
public import Nostr

extension BusRequest {
  /// The request's arguments, checked as `MethodArguments` describes.
  public func arguments<Arguments: MethodArguments>(
    as type: Arguments.Type = Arguments.self
  ) throws(Refusal) -> Arguments {
    try Arguments(of: method, json: payload.bytes, isRaw: payload.isRaw)
  }

  /// The request's arguments with their filters, checked as `Filter.list` does.
  public func argumentsAndFilters<Arguments: FilterArguments>(
    as type: Arguments.Type = Arguments.self
  ) throws(Refusal) -> (arguments: Arguments, filters: [Filter]) {
    if !payload.isRaw, let (json, filters) = Filter.split(payload.bytes),
      (1...StoreObserve.filterMaximum).contains(filters.count)
    {
      return (try Arguments(of: method, json: json), filters)
    }
    let arguments = try arguments(as: type)
    return (arguments, try Filter.list(argument: arguments.filters, countMaximum: StoreObserve.filterMaximum))
  }

  /// The request's arguments with their one filter, checked as `Filter.one` does.
  public func argumentsAndFilter<Arguments: OneFilterArguments>(
    as type: Arguments.Type = Arguments.self
  ) throws(Refusal) -> (arguments: Arguments, filter: Filter) {
    if !payload.isRaw, let (json, filter) = Filter.splitOne(payload.bytes) {
      return (try Arguments(of: method, json: json), filter)
    }
    let arguments = try arguments(as: type)
    return (arguments, try Filter.one(argument: arguments.filter, named: "filter"))
  }
}

extension BusPayload {
  /// Arguments with these `filters`; the arguments' own member is empty.
  public init(json arguments: some FilterArguments, filters: [Filter]) {
    self.init(Filter.join(filters, into: JSONPayload.encode(arguments)))
  }

  /// Arguments with this `filter`; the arguments' own member is empty.
  public init(json arguments: some OneFilterArguments, filter: Filter) {
    self.init(Filter.join(filter, into: JSONPayload.encode(arguments)))
  }
}

extension Filter {
  /// Reads the argument `filters` of a method: at least one filter, at most `countMaximum`.
  ///
  /// A field that no filter has is refused, and so is a tag name with more than one letter: relays ignore what they do
  /// not know, and would return more than the caller wants. An `npub` or similar text instead of digits is refused too.
  ///
  /// - Throws: `bad-request` with the filter's place, what is wrong with it, and the nearest field.
  public static func list(argument values: [JSONValue], countMaximum: Int) throws(Refusal) -> [Filter] {
    guard (1...countMaximum).contains(values.count) else {
      throw Refusal(
        .badRequest, "'filters' has \(values.count) filters; 1 to \(countMaximum) are taken", outcome: .notStarted)
    }
    var filters: [Filter] = []
    for (index, value) in values.enumerated() {
      do throws(FilterFault) { filters.append(try Filter(argument: value)) } catch {
        throw bad(sentence(error, "filters[\(index)]", value), "\"filters\":[\(example)]")
      }
    }
    return filters
  }

  /// Reads an argument that is one filter, by the same rules.
  ///
  /// - Parameter name: the argument's name.
  /// - Throws: `bad-request` as above.
  public static func one(argument value: JSONValue, named name: String) throws(Refusal) -> Filter {
    do throws(FilterFault) { return try Filter(argument: value) } catch {
      throw bad(sentence(error, name, value), "\"\(name)\":\(example)")
    }
  }

  private init(argument value: JSONValue) throws(FilterFault) {
    self = try Filter(json: JSONPayload.encode(value))
    try checkReferences()
  }

  private static let example =
    ##"{"kinds":[1],"authors":["3bf0…, 64 hexadecimal digits"],"#t":["nostr"],"since":1700000000,"limit":20}"##

  private static func bad(_ sentence: String, _ example: String) -> Refusal {
    Refusal(.badRequest, "\(sentence)\nas in: \(example)", outcome: .notStarted)
  }

  /// What is wrong with a filter: the place, and what is expected there.
  private static func sentence(_ fault: FilterFault, _ place: String, _ value: JSONValue) -> String {
    switch fault {
    case .badField(let name, let form): return "'\(place).\(name)' is not \(form)"
    case .unknownField(let name) where name.hasPrefix("#"):
      return "'\(place)' has \"\(name)\": a tag is asked for by one letter, as in \"#t\""
    case .unknownField(let name):
      return "'\(place)' has \"\(name)\", which no filter has\(NearestName.hint(name, among: fieldNames))"
    case .notJSON, .notUTF8, .repeatedField:
      if case .object = value { return "'\(place)' is \(fault)" }
      return "'\(place)' is not an object"
    }
  }
}
