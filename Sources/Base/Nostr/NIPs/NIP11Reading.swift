internal import Cryptography
internal import JSON

/// Reads a relay's information document field by field.
struct InformationReader {
  private(set) var information = RelayInformation()
  private(set) var complaints: [RelayInformation.Complaint] = []
  private var scanner: JSONScanner

  /// The buffer must stay valid while it reads.
  init(_ bytes: UnsafeRawBufferPointer) { scanner = JSONScanner(bytes) }

  mutating func read() throws(JSONFault) {
    guard try scanner.peek() == UInt8(ascii: "{") else { throw JSONFault(.expected("an object"), at: scanner.position) }
    try members { name, reader throws(JSONFault) in try reader.readField(name) }
    try scanner.expectEnd()
  }

  private mutating func readField(_ name: String) throws(JSONFault) {
    switch name {
    case "name": information.name = try text(name)
    case "description": information.description = try text(name)
    case "banner": information.banner = try text(name)
    case "icon": information.icon = try text(name)
    case "pubkey": information.pubkey = try key(name)
    case "self": information.ownKey = try key(name)
    case "contact": information.contact = try text(name)
    case "supported_nips": information.supportedNIPs = try numbers(name, maximum: RelayInformation.nipMaximum)
    case "software": information.software = try text(name)
    case "version": information.version = try text(name)
    case "terms_of_service": information.termsOfService = try text(name)
    case "payments_url": information.paymentsURL = try text(name)
    case "limitation":
      information.limitation = nil
      guard try isObject(name) else { return }
      var limitation = RelayInformation.Limitation()
      try members { name, reader throws(JSONFault) in try reader.readLimitation(name, into: &limitation) }
      information.limitation = limitation
    case "fees":
      information.fees = nil
      guard try isObject(name) else { return }
      var fees = RelayInformation.Fees()
      try members { name, reader throws(JSONFault) in try reader.readFees(name, into: &fees) }
      information.fees = fees
    default: try scanner.skipValue()
    }
  }

  private mutating func readLimitation(
    _ name: String, into limitation: inout RelayInformation.Limitation
  ) throws(JSONFault) {
    let field = "limitation." + name
    switch name {
    case "max_message_length": limitation.messageByteCountMaximum = try number(field)
    case "max_subscriptions": limitation.subscriptionMaximum = try number(field)
    case "max_subid_length": limitation.subscriptionNameLengthMaximum = try number(field)
    case "max_limit": limitation.limitMaximum = try number(field)
    case "default_limit": limitation.limitDefault = try number(field)
    case "max_event_tags": limitation.tagMaximum = try number(field)
    case "max_content_length": limitation.contentLengthMaximum = try number(field)
    case "min_pow_difficulty": limitation.proofOfWorkMinimum = try number(field)
    case "auth_required": limitation.requiresAuthentication = try boolean(field)
    case "payment_required": limitation.requiresPayment = try boolean(field)
    case "restricted_writes": limitation.restrictsWrites = try boolean(field)
    case "created_at_lower_limit": limitation.pastSecondsMaximum = try number(field)
    case "created_at_upper_limit": limitation.futureSecondsMaximum = try number(field)
    default: try scanner.skipValue()
    }
  }

  private mutating func readFees(_ name: String, into prices: inout RelayInformation.Fees) throws(JSONFault) {
    switch name {
    case "admission": prices.admission = try fees("fees." + name)
    case "subscription": prices.subscription = try fees("fees." + name)
    case "publication": prices.publication = try fees("fees." + name)
    default: try scanner.skipValue()
    }
  }

  // MARK: Prices

  private mutating func fees(_ field: String) throws(JSONFault) -> [RelayInformation.Fees.Fee] {
    var fees: [RelayInformation.Fees.Fee] = []
    try elements(field, "a list of prices") { reader throws(JSONFault) in
      if let fee = try reader.fee(field), fees.count < RelayInformation.feeMaximum { fees.append(fee) }
    }
    return fees
  }

  private mutating func fee(_ field: String) throws(JSONFault) -> RelayInformation.Fees.Fee? {
    guard try isObject(field) else { return nil }
    var (amount, unit, period, kinds): (Int?, String?, Int?, [Int]?)
    try members { name, reader throws(JSONFault) in
      switch name {
      case "amount": amount = try reader.number("\(field).amount")
      case "unit": unit = try reader.text("\(field).unit")
      case "period": period = try reader.number("\(field).period")
      case "kinds": kinds = try reader.numbers("\(field).kinds", maximum: RelayInformation.feeMaximum)
      default: try reader.scanner.skipValue()
      }
    }
    guard let amount, let unit else {
      complain(field, "a price with an amount and a unit")
      return nil
    }
    return RelayInformation.Fees.Fee(amount: amount, unit: unit, period: period, kinds: kinds)
  }

  // MARK: Values

  /// A text without surrounding blanks; nil if nothing else is in it.
  private mutating func text(_ field: String) throws(JSONFault) -> String? {
    guard try !isNull() else { return nil }
    guard let text = try scanner.stringOrSkip() else {
      complain(field, "a text")
      return nil
    }
    let isSpace: (Unicode.Scalar) -> Bool = { $0.properties.isWhitespace }
    let scalars = text.unicodeScalars
    guard let first = scalars.firstIndex(where: { !isSpace($0) }), let last = scalars.lastIndex(where: { !isSpace($0) })
    else { return nil }
    return String(scalars[first...last])
  }

  private mutating func key(_ field: String) throws(JSONFault) -> PublicKey? {
    guard let text = try text(field) else { return nil }
    let key = PublicKey(text.lowercased())
    if key == nil { complain(field, "a key of 64 hexadecimal digits") }
    return key
  }

  private mutating func number(_ field: String) throws(JSONFault) -> Int? {
    guard try !isNull() else { return nil }
    let value = try wholeNumber()
    if value == nil { complain(field, "a whole number from 0") }
    return value
  }

  private mutating func boolean(_ field: String) throws(JSONFault) -> Bool? {
    guard try !isNull() else { return nil }
    switch try scanner.peek() {
    case UInt8(ascii: "t"), UInt8(ascii: "f"): return try scanner.scanBoolean()
    default:
      try scanner.skipValue()
      complain(field, "true or false")
      return nil
    }
  }

  /// The numbers of a list, each once; other values are left out, with one complaint for all.
  private mutating func numbers(_ field: String, maximum: Int) throws(JSONFault) -> [Int]? {
    guard try !isNull() else { return nil }
    var numbers: [Int] = []
    var hasStrangers = false
    let isList = try elements(field, "a list of numbers") { reader throws(JSONFault) in
      guard let number = try reader.wholeNumber() else {
        hasStrangers = true
        return
      }
      if numbers.count < maximum, !numbers.contains(number) { numbers.append(number) }
    }
    if hasStrangers { complain(field, "a list of numbers only") }
    return isList ? numbers : nil
  }

  /// A whole number from 0, in the forms that relays use (`30`, `30.0`, `3e1`); nil for any other value, which is
  /// skipped.
  private mutating func wholeNumber() throws(JSONFault) -> Int? {
    let range = try scanner.skipValue()
    let bytes = scanner.bytes[range]
    guard let first = bytes.first, first &- 0x30 < 10, bytes.count <= Self.numberByteCountMaximum else { return nil }
    let text = String(decoding: bytes, as: UTF8.self)
    if let whole = Int(text) { return whole }
    guard let fraction = Double(text), fraction <= Double(1 << 53) else { return nil }
    return Int(exactly: fraction)
  }

  /// Longest number that is read.
  private static let numberByteCountMaximum = 32

  // MARK: Structure

  /// Passes `null` if it comes next; returns whether it did.
  private mutating func isNull() throws(JSONFault) -> Bool {
    guard try scanner.peek() == UInt8(ascii: "n") else { return false }
    try scanner.skipValue()
    return true
  }

  /// Whether an object comes next; any other value is skipped, with a complaint unless it is `null`.
  private mutating func isObject(_ field: String) throws(JSONFault) -> Bool {
    if try scanner.peek() == UInt8(ascii: "{") { return true }
    if try isNull() { return false }
    try scanner.skipValue()
    complain(field, "an object")
    return false
  }

  /// Gives each member of the object that comes next to `body`, which must pass its value.
  private mutating func members(
    _ body: (String, inout InformationReader) throws(JSONFault) -> Void
  ) throws(JSONFault) {
    try scanner.expect(UInt8(ascii: "{"))
    if try scanner.take(UInt8(ascii: "}")) { return }
    repeat {
      let name = try scanner.scanString()
      try scanner.expect(UInt8(ascii: ":"))
      try body(name.string(in: scanner.bytes), &self)
    } while try scanner.take(UInt8(ascii: ","))
    try scanner.expect(UInt8(ascii: "}"))
  }

  /// Gives each element of the array that comes next to `body`, which must pass it; returns whether there was an array.
  @discardableResult
  private mutating func elements(
    _ field: String, _ expected: String, _ body: (inout InformationReader) throws(JSONFault) -> Void
  ) throws(JSONFault) -> Bool {
    guard try scanner.peek() == UInt8(ascii: "[") else {
      let isAbsent = try isNull()
      if !isAbsent {
        try scanner.skipValue()
        complain(field, expected)
      }
      return false
    }
    try scanner.expect(UInt8(ascii: "["))
    if try scanner.take(UInt8(ascii: "]")) { return true }
    repeat { try body(&self) } while try scanner.take(UInt8(ascii: ","))
    try scanner.expect(UInt8(ascii: "]"))
    return true
  }

  /// Reports each field once: a list may contain the same mistake a thousand times.
  private mutating func complain(_ field: String, _ expected: String) {
    let complaint = RelayInformation.Complaint(field: field, expected: expected)
    if !complaints.contains(complaint) { complaints.append(complaint) }
  }
}
