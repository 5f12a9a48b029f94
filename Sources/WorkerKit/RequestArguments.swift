public import Bus
public import Contracts
public import Frames
public import Nostr

extension BusRequest {
  /// The request's arguments, checked as `MethodArguments` says.
  public func arguments<Arguments: MethodArguments>(
    as type: Arguments.Type = Arguments.self
  ) throws(Refusal) -> Arguments {
    try Arguments(of: method, json: payload.bytes, isRaw: payload.isRaw)
  }
}

extension Filter {
  /// Reads the argument `filters` of a method: at least one, and at most `countMaximum`.
  ///
  /// A field that no filter has is refused, as is a tag of more than one letter: relays leave out what they do not
  /// know, and answer with more than was asked for. So is an `npub` and the like where digits belong.
  ///
  /// - Throws: `bad-request` with the filter's place, what is wrong with it, and the nearest field.
  public static func list(argument values: [JSONValue], countMaximum: Int) throws(Refusal) -> [Filter] {
    guard (1...countMaximum).contains(values.count) else {
      throw Refusal(
        .badRequest, "'filters' has \(values.count) filters; 1 to \(countMaximum) are taken", outcome: .notStarted)
    }
    var filters: [Filter] = []
    for (index, value) in values.enumerated() {
      do throws(FilterFault) {
        let filter = try Filter(json: JSONPayload.encode(value))
        try filter.checkReferences()
        filters.append(filter)
      } catch {
        throw Refusal(.badRequest, "\(sentence(error, index, value))\nas in: \(example)", outcome: .notStarted)
      }
    }
    return filters
  }

  private static let example =
    ##""filters":[{"kinds":[1],"authors":["3bf0…, 64 hexadecimal digits"],"#t":["nostr"],"since":1700000000,"limit":20}]"##

  /// What is wrong with a filter: where it stands, and what is expected there.
  private static func sentence(_ fault: FilterFault, _ index: Int, _ value: JSONValue) -> String {
    let place = "filters[\(index)]"
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
