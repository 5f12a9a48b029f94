internal import Cryptography

// Written in NIP-11's form, so that another program can read what this one has understood.

extension RelayInformation: Encodable {
  private enum Name: String, CodingKey {
    case name, description, banner, icon, pubkey, contact, software, version, limitation, fees
    case ownKey = "self"
    case supportedNIPs = "supported_nips"
    case termsOfService = "terms_of_service"
    case paymentsURL = "payments_url"
  }

  /// Writes the known fields, under the names of NIP-11.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: Name.self)
    try container.encodeIfPresent(name, forKey: .name)
    try container.encodeIfPresent(description, forKey: .description)
    try container.encodeIfPresent(banner, forKey: .banner)
    try container.encodeIfPresent(icon, forKey: .icon)
    try container.encodeIfPresent(pubkey.map { "\($0)" }, forKey: .pubkey)
    try container.encodeIfPresent(ownKey.map { "\($0)" }, forKey: .ownKey)
    try container.encodeIfPresent(contact, forKey: .contact)
    try container.encodeIfPresent(supportedNIPs, forKey: .supportedNIPs)
    try container.encodeIfPresent(software, forKey: .software)
    try container.encodeIfPresent(version, forKey: .version)
    try container.encodeIfPresent(termsOfService, forKey: .termsOfService)
    try container.encodeIfPresent(paymentsURL, forKey: .paymentsURL)
    try container.encodeIfPresent(limitation, forKey: .limitation)
    try container.encodeIfPresent(fees, forKey: .fees)
  }
}
