/// What a look at a file with a key or a certificate shows, without using it: whether this process can read it, whether
/// others can, and what its contents claim to be. The worker that uses the file checks whether the key is good and
/// belongs to the certificate.
public struct SecretFileFinding: Hashable, Sendable {
  /// What is there.
  public enum Kind: Hashable, Sendable {
    /// A regular file that this process can read.
    case file
    /// A directory.
    case directory
    /// Neither a file nor a directory.
    case special
    /// Something that this process cannot read, with the reason that the system gave.
    case unreadable(String)
  }

  /// What the contents of a file claim to be.
  public enum Contents: Hashable, Sendable {
    /// PEM, with the words after each BEGIN, such as `CERTIFICATE`, in the order of the file.
    case pem([String])
    /// Text that begins like a JSON object.
    case object
    /// Neither.
    case other
    /// Nothing.
    case empty
  }

  /// What a setting wants.
  enum Wanted {
    case certificate, serverKey, key, keyRing, account
  }

  /// What is there.
  public var kind: Kind
  /// Whether users other than its owner can read it.
  public var isOpenToOthers: Bool
  /// What the contents claim to be; nil if they were not read.
  public var contents: Contents?

  /// A finding.
  public init(_ kind: Kind, isOpenToOthers: Bool = false, contents: Contents? = nil) {
    self.kind = kind
    self.isOpenToOthers = isOpenToOthers
    self.contents = contents
  }

  /// What is wrong with it; nil if nothing is.
  func complaint(at path: String, wanted: Wanted) -> String? {
    switch kind {
    case .directory: return "\(path) is a directory, not a file"
    case .special: return "\(path) is no regular file"
    case .unreadable(let reason): return "\(path) cannot be read: \(reason)"
    case .file: break
    }
    if wanted.isSecret, isOpenToOthers {
      return "\(path) can be read by others than its owner; type: chmod 600 \(path)"
    }
    guard let contents else { return nil }
    return wanted.accepts(contents) ? nil : "\(path) holds no \(wanted.words)\(contents.remark)"
  }
}

extension SecretFileFinding.Wanted {
  fileprivate var isSecret: Bool { self != .certificate }

  fileprivate func accepts(_ contents: SecretFileFinding.Contents) -> Bool {
    switch (self, contents) {
    case (.certificate, .pem(let labels)): labels.contains { $0.hasSuffix("CERTIFICATE") }
    case (.serverKey, .pem(let labels)): labels.contains { $0.hasSuffix("PRIVATE KEY") }
    case (.key, .pem(let labels)): labels.contains { $0 == "PRIVATE KEY" || $0 == "EC PRIVATE KEY" }
    case (.keyRing, .other), (.account, .object): true
    default: false
    }
  }

  fileprivate var words: String {
    switch self {
    case .certificate: "certificate in PEM"
    case .serverKey: "key in PEM"
    case .key: "key in PEM as Apple gives it, AuthKey_….p8"
    case .keyRing: "key ring, lines of name:base64"
    case .account: "service account of Google's, a JSON file"
    }
  }
}

extension SecretFileFinding.Contents {
  fileprivate var remark: String {
    switch self {
    case .empty: ": it is empty"
    case .pem(let labels): labels.first.map { ": it holds a \($0)" } ?? ""
    case .object: ": it is JSON"
    case .other: ""
    }
  }
}
