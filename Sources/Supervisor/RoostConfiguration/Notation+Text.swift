internal import Addresses
internal import Contracts

extension Notation where Value == String {
  /// Text without control characters; `check` may find other faults in it.
  static func text(
    _ expected: String, check: @escaping @Sendable (String) -> Complaint? = { _ in nil }
  ) -> Notation {
    Notation { value, _ throws(Complaints) in
      try plainText(value, expected: expected, check: check)
    } render: {
      .string($0)
    }
  }

  /// A path, made absolute: a relative path is relative to the configuration file's directory, `~/` is the home
  /// directory.
  static let path = Notation { value, context throws(Complaints) in
    let text = try plainText(value, expected: "a path") { $0.isEmpty ? Complaint(message: "the path is empty") : nil }
    return context.surroundings.absolute(text, in: context.directory)
  } render: {
    .string($0)
  }

  /// A path, or nothing (`""`).
  static let optionalPath = Notation { value, context throws(Complaints) in
    value == .string("") ? "" : try path.parse(value, context)
  } render: {
    .string($0)
  }

  /// A program: a bare name stays unchanged, everything else is a path.
  static let program = Notation { value, context throws(Complaints) in
    let text = try plainText(value, expected: "a program's name or path") {
      $0.isEmpty || $0 == "." || $0 == ".." ? Complaint(message: "\"\($0)\" names no program") : nil
    }
    return text.contains("/") ? context.surroundings.absolute(text, in: context.directory) : text
  } render: {
    .string($0)
  }

  /// The name of a worker or a role.
  static let name = text("a name") { Names.complaint(about: $0).map { Complaint(message: $0) } }

  /// A relay's URL, kept as written.
  static let relay = text("a relay's URL") { text in relayComplaint(text) }

  /// The local relay of another Roost: a relay's URL without a path.
  static let peer = text("a Roost's URL") { text in
    if let complaint = relayComplaint(text) { return complaint }
    guard PeerPath.url(of: text) != nil, let url = try? RelayURL(text) else {  // `try?`: it was read above.
      return Complaint(message: "\"\(text)\" has a path; a Roost is named as \"wss://home.example:4869\"")
    }
    guard !url.isSecure, IPAddress(url.host)?.scope != .loopback, url.host != "localhost" else { return nil }
    return Complaint(
      message: "\"\(text)\" is not encrypted, and a machine on the way could take the other Roost's place",
      nearest: "wss" + text.dropFirst(2))
  }

  private static func relayComplaint(_ text: String) -> Complaint? {
    do throws(RelayURLFault) {
      _ = try RelayURL(text)
      return nil
    } catch {
      let schemes = ["https": "wss", "http": "ws"]
      // A complaint must not repeat a URL with a password.
      guard case .scheme(.some(let scheme)) = error.problem, let near = schemes[scheme], !text.contains("@") else {
        return Complaint(message: "\(error)")
      }
      return Complaint(message: "\(error)", nearest: near + text.dropFirst(scheme.count))
    }
  }

  /// A server that is asked over HTTP, or none (`""`).
  static let webServer = text("an https: or http: address") { text in
    let isAddress = ["https://", "http://"].contains { text.hasPrefix($0) && text != $0 }
    guard !text.isEmpty, !isAddress || text.contains(where: { "?# @".contains($0) }) else { return nil }
    return Complaint(
      message:
        "\"\(text.contains("@") ? "…" : text)\" is no address such as \"https://names.example\", without '?', '#' and '@'"
    )
  }

  /// The address of a page or a picture; "" for none.
  static let webAddress = text("an https: or http: address") { text in
    let isAddress = ["https://", "http://"].contains { text.hasPrefix($0) && text != $0 } && !text.contains(" ")
    return text.isEmpty || isAddress
      ? nil : Complaint(message: "\"\(text)\" is no address such as \"https://relay.example/icon.png\"")
  }

  /// The name of an environment variable.
  static let variable = text("the name of an environment variable") { text in
    let isName = text.utf8.enumerated().allSatisfy { place, byte in
      switch byte {
      case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "_"): true
      case UInt8(ascii: "0")...UInt8(ascii: "9"): place > 0
      default: false
      }
    }
    return isName && !text.isEmpty
      ? nil
      : Complaint(message: "\"\(text)\" is not the name of a variable (letters, digits, underscores; no value, no '=')")
  }

  /// A method, or all methods with one prefix: `relay.request`, `example.*`.
  static let methods = text("a method such as \"relay.request\" or \"relay.*\"") { text in
    MethodPattern(text) == nil
      ? Complaint(
        message: "\"\(text)\" is no method: write words of lower case letters, digits and hyphens with dots between,"
          + " such as relay.request, or relay.* for all that begin so")
      : nil
  }

  /// A rule of `sign-kinds`: `example:1`, `example:30000-39999`, `example:1@bot`.
  static let signingRule = text("a rule such as \"example:1\"") { text in
    if let at = text.firstIndex(of: "@"), let complaint = complaint(aboutSecret: String(text[at...].dropFirst())) {
      return complaint
    }
    guard let rule = SigningRule(text) else { return Complaint(message: "\"\(text)\" is not \(SigningRule.form)") }
    return Names.complaint(about: rule.role).map { Complaint(message: $0) }
  }

  /// A public key: 64 lower case hexadecimal digits, `npub1…` or `nprofile1…`, with or without `nostr:` in front.
  ///
  /// Only its form is checked. The worker checks the checksum and whether the key is a point of the curve: roostd
  /// contains no cryptography.
  static let publicKey = text("a public key") { text in
    complaint(aboutSecret: text)
      ?? (isPublicKey(text)
        ? nil
        : Complaint(
          message: "\"\(text)\" is no public key: write 64 lower case hexadecimal digits, npub1… or nprofile1…"))
  }

  /// A public key; "" for none.
  static let optionalPublicKey = Notation { value, context throws(Complaints) in
    value == .string("") ? "" : try publicKey.parse(value, context)
  } render: {
    .string($0)
  }

  /// An account of the signer: its name, or its public key. A text that begins like a key must have the form of one.
  static let account = text("an account") { text in
    if let complaint = complaint(aboutSecret: text) { return complaint }
    let entity = text.lowercased().drop(prefix: "nostr:")
    guard ["npub1", "nprofile1"].contains(where: entity.hasPrefix), !isPublicKey(text) else { return nil }
    return Complaint(message: "\"\(text)\" is no public key, and no account's name: it is too short, or mistyped")
  }

  /// Refuses a secret key, with a complaint that does not repeat it.
  static func complaint(aboutSecret text: String) -> Complaint? {
    let entity = text.lowercased().drop(prefix: "nostr:")
    guard entity.hasPrefix("nsec1") || entity.hasPrefix("ncryptsec1") else { return nil }
    return Complaint(message: "this is a secret key; a public one is wanted, and no secret belongs in this file")
  }

  /// Whether a text is 32 bytes in Nostr's notation: 64 lower case hexadecimal digits.
  static func isHexadecimal(_ text: String) -> Bool {
    text.utf8.count == 64 && text.utf8.allSatisfy("0123456789abcdef".utf8.contains)
  }

  /// Whether a text has the form of a public key.
  static func isPublicKey(_ text: String) -> Bool {
    if isHexadecimal(text) { return true }
    let entity = text.lowercased().drop(prefix: "nostr:")
    guard let prefix = ["npub1", "nprofile1"].first(where: entity.hasPrefix) else { return false }
    let data = entity.dropFirst(prefix.count).utf8
    // An npub encodes 32 bytes and a checksum, always in the same number of letters; an nprofile has no fixed length.
    return data.allSatisfy("qpzry9x8gf2tvdw0s3jn54khce6mua7l".utf8.contains)
      && (prefix == "npub1" ? data.count == 58 : data.count > 58)
  }

  private static func plainText(
    _ value: ConfigurationValue, expected: String, check: (String) -> Complaint?
  ) throws(Complaints) -> String {
    guard case .string(let text) = value else { throw .wrongKind(value, expected: expected + ", a string") }
    let byteCount = text.utf8.count
    guard byteCount <= Limits.textByteCountMaximum else {
      throw Complaints("\(byteCount) bytes long; at most \(Limits.textByteCountMaximum) are possible")
    }
    guard !text.unicodeScalars.contains(where: { $0.value < 0x20 || $0.value == 0x7F }) else {
      throw Complaints("\(value) contains a control character")
    }
    if let complaint = check(text) { throw Complaints([complaint]) }
    return text
  }
}

extension Notation where Value == UInt32 {
  /// A user id.
  static let uid = Notation { value, _ throws(Complaints) in
    guard case .integer(let number) = value else { throw .wrongKind(value, expected: "a uid, a whole number") }
    // The highest number means "no change" to the kernel and cannot be a user's.
    guard let uid = UInt32(exactly: number), uid != .max else {
      throw Complaints("\(number) is no uid; they go from 0 to \(UInt32.max - 1)")
    }
    return uid
  } render: {
    .integer(Int($0))
  }
}

extension Notation where Value == [String: LogLevel] {
  /// Categories and their levels: `{ relay = "debug" }`.
  static let levels = Notation { value, context throws(Complaints) in
    guard case .table(let entries) = value else {
      throw .wrongKind(value, expected: "a table of levels such as { relay = \"debug\" }")
    }
    let level = Notation<LogLevel>.choice(LogLevel.self)
    var result: [String: LogLevel] = [:]
    var complaints: [Complaint] = []
    for (category, value) in entries.sorted(by: { $0.key < $1.key }) {
      do throws(Complaints) {
        result[category] = try level.parse(value, context)
      } catch {
        complaints += error.list.map { complaint in
          var complaint = complaint
          complaint.steps.insert(.key(category), at: 0)
          return complaint
        }
      }
    }
    guard complaints.isEmpty else { throw Complaints(complaints) }
    return result
  } render: {
    .table($0.mapValues { .string($0.rawValue) })
  }
}

/// The rule for the names of workers and roles.
public enum Names {
  /// The longest name, in letters.
  public static let countMaximum = 32
  /// The name that is reserved for the supervisor.
  public static let supervisor = "roostd"

  /// What is wrong with `name`; nil if nothing is.
  public static func complaint(about name: String) -> String? {
    let isMade = name.utf8.allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"): true
      default: false
      }
    }
    guard isMade, !name.isEmpty, !name.hasPrefix("-") else {
      return "'\(name)' is no name: write lower case letters, digits and hyphens, beginning with a letter or digit"
    }
    // Its log and its lines in a status would look like the supervisor's own.
    guard name != supervisor else { return "'\(name)' is the supervisor itself" }
    guard name.count <= countMaximum else {
      return "'\(name)' has \(name.count) letters; a name has at most \(countMaximum)"
    }
    return nil
  }
}

/// A method's name, or a prefix that several names share.
struct MethodPattern: Hashable, Sendable {
  /// The words between the dots, without a final `*`.
  let words: [Substring]
  /// Whether it ends in `.*`.
  let isPrefix: Bool

  /// Takes `relay.request` or `relay.*`; nil for anything else.
  init?(_ text: String) {
    var parts = text.split(separator: ".", omittingEmptySubsequences: false)
    isPrefix = parts.last == "*"
    if isPrefix { parts.removeLast() }
    guard !parts.isEmpty, isPrefix || parts.count > 1 else { return nil }
    guard parts.allSatisfy({ Names.complaint(about: String($0)) == nil }) else { return nil }
    words = parts
  }

  /// Whether a method can exist that matches both.
  func overlaps(_ other: MethodPattern) -> Bool {
    let shared = min(words.count, other.words.count)
    guard words.prefix(shared) == other.words.prefix(shared) else { return false }
    if words.count == other.words.count { return isPrefix == other.isPrefix }
    return words.count < other.words.count ? isPrefix : other.isPrefix
  }
}

extension String {
  /// The text without `prefix`, if it has it.
  fileprivate func drop(prefix: String) -> Substring { hasPrefix(prefix) ? dropFirst(prefix.count) : self[...] }
}
