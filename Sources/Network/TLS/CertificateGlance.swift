internal import CTLS
internal import Glibc

// What a message to a person says about a bad certificate. All texts are the other side's own: they are cut and made
// printable before they are shown.

/// The contents of a certificate, for people.
struct CertificateGlance: Equatable {
  /// The hosts and addresses that it is for, at most ``nameMaximum``.
  var names: [String] = []
  /// The number of all names.
  var nameCount = 0
  /// The holder as the certificate names it: the common name, or the organization.
  var subject = ""
  /// The signer, named in the same way.
  var issuer = ""
  /// The first and the last day on which it is valid, `2026-11-20`, in UTC.
  var firstDay = ""
  var lastDay = ""

  /// The maximum number of names that are shown.
  static let nameMaximum = 3

  init() {}

  init(_ certificate: OpaquePointer) {
    subject = Self.name(X509_get_subject_name(certificate))
    issuer = Self.name(X509_get_issuer_name(certificate))
    firstDay = Self.day(X509_get0_notBefore(certificate))
    lastDay = Self.day(X509_get0_notAfter(certificate))
    guard let list = roost_names(certificate) else { return }
    defer { GENERAL_NAMES_free(list) }
    for index in 0..<roost_names_count(list) {
      var isAddress: Int32 = 0
      var count: Int32 = 0
      guard let start = roost_name_at(list, index, &isAddress, &count) else { continue }
      nameCount += 1
      guard names.count < Self.nameMaximum else { continue }
      let bytes = UnsafeBufferPointer(start: start, count: Int(count))
      names.append(isAddress == 1 ? Self.address(bytes) : plainText(bytes))
    }
  }

  /// `a.example, b.example, c.example and 12 more`.
  var nameList: String {
    if names.isEmpty { return "no host at all" }
    let more = nameCount - names.count
    return names.joined(separator: ", ") + (more > 0 ? " and \(more) more" : "")
  }

  private static func name(_ name: OpaquePointer?) -> String {
    for kind in [NID_commonName, NID_organizationName] {
      let index = X509_NAME_get_index_by_NID(name, kind, -1)
      guard index >= 0, let text = X509_NAME_ENTRY_get_data(X509_NAME_get_entry(name, index)),
        let start = ASN1_STRING_get0_data(text)
      else { continue }
      return plainText(UnsafeBufferPointer(start: start, count: Int(ASN1_STRING_length(text))))
    }
    return "an issuer without a name"
  }

  private static func day(_ time: UnsafePointer<ASN1_TIME>?) -> String {
    var parts = tm()
    guard let time, ASN1_TIME_to_tm(time, &parts) == 1 else { return "at no known time" }
    func padded(_ number: Int32) -> String { number < 10 ? "0\(number)" : "\(number)" }
    return "\(parts.tm_year + 1_900)-\(padded(parts.tm_mon + 1))-\(padded(parts.tm_mday))"
  }

  private static func address(_ bytes: UnsafeBufferPointer<UInt8>) -> String {
    var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
    let family = bytes.count == 4 ? AF_INET : AF_INET6
    guard bytes.count == 4 || bytes.count == 16,
      inet_ntop(family, bytes.baseAddress, &text, socklen_t(text.count)) != nil
    else { return "?" }
    return String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
  }
}

/// A foreign name in a form that can be shown: at most 100 characters, all of them printable ASCII.
func plainText(_ bytes: some Sequence<UInt8>) -> String {
  let text = bytes.prefix(101).map { (0x20..<0x7F).contains($0) ? $0 : UInt8(ascii: "?") }
  return String(decoding: text.prefix(100), as: UTF8.self) + (text.count > 100 ? "…" : "")
}
