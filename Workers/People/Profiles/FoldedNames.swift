public import Contracts
public import Nostr

/// The names of one person in the form in which letters are compared with them: folded, without accents.
public struct FoldedNames: Sendable, Hashable {
  /// The names: of each the number of its field, its words in UTF-8, and a zero.
  private(set) var utf8: [UInt8] = []

  private static let fields: [FoundPerson.Field] = [.petname, .displayName, .name, .nip05]

  /// No names.
  public init() {}

  /// The names of a profile.
  public init(_ profile: Profile) {
    add(profile.displayName, .displayName)
    add(profile.name, .name)
    add(profile.nip05.flatMap { InternetIdentifier($0) }.map { $0.name == "_" ? $0.domain : $0.name }, .nip05)
  }

  /// Adds a name.
  public mutating func add(_ name: String?, _ field: FoundPerson.Field) {
    guard let name, let number = Self.fields.firstIndex(of: field) else { return }
    let words = SearchWords(name).utf8
    guard !words.isEmpty else { return }
    utf8.append(UInt8(number + 1))
    utf8 += words
    utf8.append(0)
  }

  /// Whether there are no names.
  public var isEmpty: Bool { utf8.isEmpty }

  /// The best match of some letters.
  ///
  /// - Parameter sought: the letters, folded; not empty.
  /// - Returns: what matched and how; nil: nothing did.
  public func match(_ sought: [UInt8]) -> (field: FoundPerson.Field, way: FoundPerson.Way)? {
    var best: (field: FoundPerson.Field, way: FoundPerson.Way)?
    utf8.withUnsafeBufferPointer { bytes in
      sought.withUnsafeBufferPointer { sought in
        var start = 0
        while start < bytes.count {
          let field = Self.fields[Int(bytes[start]) - 1]
          let end = bytes[start...].firstIndex(of: 0) ?? bytes.count
          let name = UnsafeBufferPointer(rebasing: bytes[start + 1..<end])
          if let way = Self.way(sought, in: name), best.map({ way.order < $0.way.order }) ?? true {
            best = (field, way)
          }
          start = end + 1
        }
      }
    }
    return best
  }

  private static func way(
    _ sought: UnsafeBufferPointer<UInt8>, in name: UnsafeBufferPointer<UInt8>
  ) -> FoundPerson.Way? {
    guard name.count >= sought.count else { return nil }
    var best: FoundPerson.Way?
    for start in 0...(name.count - sought.count)
    where name[start] == sought[0] && (1..<sought.count).allSatisfy({ name[start + $0] == sought[$0] }) {
      if start == 0 { return name.count == sought.count ? .exact : .beginning }
      if name[start - 1] == 0x20 { return .word }
      best = .inside
    }
    return best
  }
}

extension FoundPerson.Way {
  /// Its place, the best first.
  var order: Int {
    switch self {
    case .exact: 0
    case .beginning: 1
    case .word: 2
    case .inside: 3
    }
  }
}
