internal import Cryptography

/// Reads an invoice from its prefix and its five-bit values.
struct InvoiceReader {
  private let prefix: String
  private let values: [UInt8]
  private var position = 0

  let network: Invoice.Network
  let amountMillisatoshis: Int64?
  private(set) var createdAt: Int64 = 0
  private(set) var paymentHash: Octets32?
  private(set) var paymentSecret: Octets32?
  private(set) var descriptionText: String?
  private(set) var descriptionHash: Octets32?
  private(set) var expirySeconds: Int64?
  private(set) var finalExpiryDeltaBlocks: Int64?
  private(set) var statedPayee: CompressedPublicKey?
  private(set) var fallbacks: [Invoice.Fallback] = []
  private(set) var routes: [[Invoice.Hop]] = []
  private(set) var metadata: [UInt8]?
  private(set) var features: [Int]?
  private(set) var skippedFieldCount = 0
  private(set) var fieldWithLeadingZeros: Character?

  /// Values of the signature, 520 bits, and of the time, 35 bits.
  private static let signatureCount = 104
  private static let timeCount = 7
  /// The largest number of seconds or blocks: more than 30,000 years cannot be meant, and sums stay in range.
  private static let numberMaximum: UInt64 = 1 << 40

  init(prefix: String, values: [UInt8]) throws(InvoiceFault) {
    guard prefix.hasPrefix("ln") else { throw .notAnInvoice }
    let rest = prefix.dropFirst(2)
    let name = rest.prefix { !$0.isASCII || !$0.isNumber }
    guard let network = Invoice.Network(rawValue: String(name)) else {
      throw .unknownNetwork(String(name.prefix(16)))
    }
    self.network = network
    amountMillisatoshis = try Self.amount(rest.dropFirst(name.count).utf8)
    self.prefix = prefix
    self.values = values
    guard values.count >= Self.timeCount + Self.signatureCount else { throw .tooShort }
  }

  /// `2500u` in millisatoshis; nil for an empty text.
  private static func amount(_ text: Substring.UTF8View) throws(InvoiceFault) -> Int64? {
    guard let last = text.last else { return nil }
    // How many millisatoshis each unit is; a pico is a tenth.
    let units: [UInt8: Int64] = [
      UInt8(ascii: "m"): 100_000_000, UInt8(ascii: "u"): 100_000, UInt8(ascii: "n"): 100, UInt8(ascii: "p"): 1,
    ]
    let unit = units[last]
    guard let number = plainNumber(unit == nil ? text[...] : text.dropLast()), number > 0 else { throw .badAmount }
    if last == UInt8(ascii: "p"), !number.isMultiple(of: 10) { throw .fractionalAmount }
    let (product, overflows) = number.multipliedReportingOverflow(by: unit ?? 100_000_000_000)
    let amount = last == UInt8(ascii: "p") ? product / 10 : product
    guard !overflows, amount <= JobAmount.millisatoshisMaximum else { throw .amountTooLarge }
    return amount
  }

  // MARK: Fields

  /// Reads the time and all fields.
  mutating func read() throws(InvoiceFault) {
    createdAt = Int64(Self.number(values[..<Self.timeCount]) ?? 0)
    position = Self.timeCount
    let end = values.count - Self.signatureCount
    while position < end {
      let type = Bech32.character(of: values[position])
      guard position + 3 <= end else { throw .fieldTooLong(type) }
      let count = Int(values[position + 1]) << 5 | Int(values[position + 2])
      position += 3
      guard count <= end - position else { throw .fieldTooLong(type) }
      if try !readField(type, values[position..<(position + count)]) { skippedFieldCount += 1 }
      position += count
    }
  }

  /// Reads one field; false for one that is ignored. If a field may occur once, the first one counts.
  private mutating func readField(_ type: Character, _ data: ArraySlice<UInt8>) throws(InvoiceFault) -> Bool {
    switch type {
    case "p": return try set(\.paymentHash, try digest(type, data))
    case "s": return try set(\.paymentSecret, try digest(type, data))
    case "h": return try set(\.descriptionHash, try digest(type, data))
    case "d": return try set(\.descriptionText, try text(data))
    case "m": return try set(\.metadata, try bytes(type, data))
    case "n": return try set(\.statedPayee, try key(data))
    case "x": return try set(\.expirySeconds, try wholeNumber(type, data))
    case "c": return try set(\.finalExpiryDeltaBlocks, try wholeNumber(type, data))
    case "9": return try set(\.features, bits(data))
    case "f": return try readFallback(data)
    case "r": return try readRoute(data)
    default: return false
    }
  }

  private mutating func set<Value>(
    _ field: WritableKeyPath<InvoiceReader, Value?>, _ value: Value?
  ) throws(InvoiceFault) -> Bool {
    guard let value, self[keyPath: field] == nil else { return false }
    self[keyPath: field] = value
    return true
  }

  /// 32 bytes; nil for another length.
  private func digest(_ type: Character, _ data: ArraySlice<UInt8>) throws(InvoiceFault) -> Octets32? {
    data.count == 52 ? Octets32(try bytes(type, data)) : nil
  }

  private func key(_ data: ArraySlice<UInt8>) throws(InvoiceFault) -> CompressedPublicKey? {
    guard data.count == 53 else { return nil }
    guard let key = CompressedPublicKey(try bytes("n", data)) else { throw .badField("n") }
    return key
  }

  private func text(_ data: ArraySlice<UInt8>) throws(InvoiceFault) -> String {
    guard let text = String(validating: try bytes("d", data), as: UTF8.self) else { throw .badField("d") }
    return text
  }

  private mutating func wholeNumber(_ type: Character, _ data: ArraySlice<UInt8>) throws(InvoiceFault) -> Int64 {
    noteLeadingZeros(type, data)
    guard let number = Self.number(data), number <= Self.numberMaximum else { throw .fieldTooLarge(type) }
    return Int64(number)
  }

  /// The numbers of the bits that are set; the last value has the lowest five.
  private mutating func bits(_ data: ArraySlice<UInt8>) -> [Int] {
    noteLeadingZeros("9", data)
    return data.reversed().enumerated().flatMap { place, value in
      (0..<5).filter { value >> UInt8($0) & 1 == 1 }.map { place * 5 + $0 }
    }
  }

  /// By BOLT-11, an invoice with leading zeros must not be paid.
  private mutating func noteLeadingZeros(_ type: Character, _ data: ArraySlice<UInt8>) {
    if data.first == 0, fieldWithLeadingZeros == nil { fieldWithLeadingZeros = type }
  }

  private mutating func readFallback(_ data: ArraySlice<UInt8>) throws(InvoiceFault) -> Bool {
    guard let version = data.first, version <= 18 else { return false }
    let bytes = try bytes("f", data.dropFirst())
    let isRight =
      switch version {
      case 0: bytes.count == 20 || bytes.count == 32
      case 17, 18: bytes.count == 20
      default: (2...40).contains(bytes.count)
      }
    if isRight { fallbacks.append(Invoice.Fallback(version: version, bytes: bytes)) }
    return isRight
  }

  private mutating func readRoute(_ data: ArraySlice<UInt8>) throws(InvoiceFault) -> Bool {
    let bytes = try bytes("r", data)
    guard !bytes.isEmpty, bytes.count.isMultiple(of: Invoice.Hop.byteCount) else { return false }
    var hops: [Invoice.Hop] = []
    for start in stride(from: 0, to: bytes.count, by: Invoice.Hop.byteCount) {
      guard let hop = Self.hop(bytes[start..<(start + Invoice.Hop.byteCount)]) else { return false }
      hops.append(hop)
    }
    routes.append(hops)
    return true
  }

  private static func hop(_ bytes: ArraySlice<UInt8>) -> Invoice.Hop? {
    guard let node = CompressedPublicKey(bytes.prefix(33)) else { return nil }
    func number<Value: FixedWidthInteger>(_ offset: Int) -> Value {
      let start = bytes.startIndex + offset
      return bytes[start..<(start + MemoryLayout<Value>.size)].reduce(0) { $0 << 8 | Value($1) }
    }
    return Invoice.Hop(
      node: node, channelID: number(33), baseFeeMillisatoshis: number(41), proportionalFeeMillionths: number(45),
      expiryDeltaBlocks: number(49))
  }

  // MARK: Bits

  /// Five-bit values as a number, the highest first; nil if it does not fit.
  private static func number(_ data: ArraySlice<UInt8>) -> UInt64? {
    var number: UInt64 = 0
    for value in data {
      guard number >> 59 == 0 else { return nil }
      number = number << 5 | UInt64(value)
    }
    return number
  }

  /// Five-bit values as bytes; the remaining bits must be zeros, and fewer than five.
  private func bytes(_ type: Character, _ data: ArraySlice<UInt8>) throws(InvoiceFault) -> [UInt8] {
    let (bytes, restCount, rest) = Self.regroup(data)
    guard restCount < 5, rest == 0 else { throw .badField(type) }
    return bytes
  }

  private static func regroup(_ data: ArraySlice<UInt8>) -> (bytes: [UInt8], restCount: Int, rest: UInt32) {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(data.count * 5 / 8 + 1)
    var bits: UInt32 = 0
    var bitCount = 0
    for value in data {
      bits = bits << 5 & 0xFFF | UInt32(value)
      bitCount += 5
      guard bitCount >= 8 else { continue }
      bitCount -= 8
      bytes.append(UInt8(truncatingIfNeeded: bits >> UInt32(bitCount)))
    }
    return (bytes, bitCount, bits & ((1 << UInt32(bitCount)) - 1))
  }

  // MARK: Signature

  /// The hash that is signed: of the prefix, and of the values before the signature as bytes, padded with zeros.
  static func digest(prefix: String, values: ArraySlice<UInt8>) -> Octets32 {
    var (bytes, restCount, rest) = regroup(values)
    if restCount > 0 { bytes.append(UInt8(truncatingIfNeeded: rest << UInt32(8 - restCount))) }
    return SHA256.hash(Array(prefix.utf8) + bytes)
  }

  /// The signer: the node that the invoice names, if the signature is valid for it, or else the node computed from the
  /// signature.
  func payee() throws(InvoiceFault) -> CompressedPublicKey {
    let end = values.count - Self.signatureCount
    guard let signature = RecoverableSignature(Self.regroup(values[end...]).bytes) else { throw .badSignature }
    let digest = Self.digest(prefix: prefix, values: values[..<end])
    if let statedPayee {
      guard signature.isValid(for: digest, by: statedPayee) else { throw .badSignature }
      return statedPayee
    }
    guard let payee = signature.key(signing: digest) else { throw .badSignature }
    return payee
  }
}
